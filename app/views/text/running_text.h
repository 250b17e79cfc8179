// The text itself, at reading size: behind each token the weight that the chosen query gives it.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "parts/scene.h"
#include "session/viewport.h"

namespace headlight {

struct View;

/// Where the tokens of a stack stand when they flow in lines; kept until text, width or font change.
struct TextFlow {
    uint64_t of_sentence = 0;
    int stack = -1;
    float width = 0, scale = 0;
    bool on_page = false;
    Font font;
    std::vector<Rect> places;  // of tokens, from the corner of the flow
    float height = 0;
};

struct RunningTextState {
    Viewport seen;
    std::array<TextFlow, 2> flows;         // keys; queries, where they are other tokens
    std::pair<int, int> followed{-1, -1};  // the stack and the query that were brought into sight
    int first_in_sight = 0;                // of the keys
    int query = -1;                        // the one that stays while the pointer reads weights
    void visit(FieldVisitor& visitor);
};

inline constexpr float kTokenSides = 3;  // around a token's text

/// The texts under one another as they scroll: the queries' where they are other tokens, then the keys'.
struct TextLayout {
    Rect view;
    const TextFlow *keys = nullptr, *queries = nullptr;  // queries: null where they are the keys
    float keys_from = 0;                                 // of the content
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
/// The query comes into sight where it is another one.
void follow_query(Scene& scene, TextLayout& layout, int query);
/// Tokens of a flow that are seen: the first, and the one behind the last.
std::pair<int, int> tokens_in_sight(const TextLayout& layout, const TextFlow& flow);

void draw_running_text(Scene& scene, Rect area);

View running_text_view();

}  // namespace headlight
