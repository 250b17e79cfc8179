// Draws the text at reading size, each token in the color of its weight from the query.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "parts/scene.h"
#include "session/viewport.h"

namespace headlight {

struct View;

/// A word, shaped as one whatever its tokens: Arabic letters join, signs stand on their letters.
struct TextWord {
    int first = 0, count = 1;  // its tokens
    std::string text;
    std::vector<size_t> ends;                // of each token's bytes in it
    bool blank = false, ends_line = false;   // blank: before it
    bool leftward = false, directed = true;  // not directed: as its neighbors run
    float x = 0, y = 0;
};

/// Returns the words of a stack's tokens.
std::vector<TextWord> words_of_tokens(const Scene& scene, int stack);

/// Caches the places of a stack's tokens, flowed in lines, until text, width or scale change.
struct TextFlow {
    uint64_t of_sentence = 0;
    int stack = -1;
    float width = 0, scale = 0;
    bool on_page = false;
    Font font;
    std::vector<TextWord> words;
    std::vector<Rect> places;  // of tokens, relative to the flow's corner
    float height = 0;
};

struct RunningTextState {
    Viewport seen;
    std::array<TextFlow, 2> flows;         // keys; queries, if they are other tokens
    std::pair<int, int> followed{-1, -1};  // the stack and query last scrolled to
    int first_in_sight = 0;                // of the keys
    int query = -1;                        // stays while the pointer reads weights
    void visit(FieldVisitor& visitor);
};

inline constexpr float kTokenSides = 2;  // padding of words

/// Places the queries' text, if they are other tokens, above the keys'.
struct TextLayout {
    Rect view;
    const TextFlow *keys = nullptr, *queries = nullptr;  // queries: null if they are the keys
    float keys_from = 0;                                 // top of the keys' text
    float offset = 0;

    float height() const { return keys_from + keys->height; }
    Rect place(const TextFlow& flow, int token) const {
        Rect r = flow.places[token];
        r.x += view.x;
        r.y += view.y - offset + (&flow == keys ? keys_from : 0);
        return r;
    }
    const TextFlow& of_queries() const { return queries ? *queries : *keys; }
};

TextLayout arrange_text(Scene& scene, Rect room);
void follow_query(Scene& scene, TextLayout& layout, int query);
/// Returns the half-open range of words that have one of these tokens.
std::pair<size_t, size_t> words_of_range(const TextFlow& flow, std::pair<int, int> tokens);
/// Returns the half-open range of tokens in sight.
std::pair<int, int> tokens_in_sight(const TextLayout& layout, const TextFlow& flow);

void draw_running_text(Scene& scene, Rect area);

View running_text_view();

}  // namespace headlight
