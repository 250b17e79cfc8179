// Chat: a conversation as rows of turns, and what each turn attends to in each other one.
#pragma once

#include "analysis/attention/turns.h"
#include "analysis/prediction/own_answer.h"
#include "io/numbers.h"
#include "parts/controls.h"
#include "questions/chat_input.h"
#include "views/turn_pair.h"

namespace headlight {

struct View;

enum class TemplateTokens { dimmed, hidden };
enum class Thinking { folded, shown };

/// Is a token in a row; its place is relative to the first row.
struct ChatWord {
    int token = 0;
    Rect at;
};
struct ChatRow {
    int turn = 0;
    float y = 0, h = 0;
    std::vector<ChatWord> words;
    std::string first_line;  // of folded thinking; "": not folded
};

/// Caches the rows until text, width, scale or state change.
struct ChatFlow {
    uint64_t of_sentence = 0;
    float width = 0, scale = 0;
    bool on_page = false;
    TemplateTokens template_tokens = TemplateTokens::dimmed;
    Thinking thinking = Thinking::folded;
    std::vector<ChatRow> rows;
    float height = 0;
};

struct ChatState {
    TemplateTokens template_tokens = TemplateTokens::dimmed;
    Thinking thinking = Thinking::folded;
    TurnMeasure measure = TurnMeasure::mean;
    bool one_head = false;  // of the selected head, not of all
    ChosenTurns chosen;
    Viewport seen;
    ChatFlow flow;
    void visit(FieldVisitor& visitor);
};

/// Returns whether the shown run hides a turn from later tokens.
bool masks_turn(const Scene& scene, int turn);
/// "4 user".
std::string turn_name(const Conversation& chat, int turn);

TurnsRequest turns_request(const Scene& scene);
/// Returns what is known of turns so far.
TurnsFound shown_turns(const Scene& scene);
/// "mean of 270 heads".
std::string measure_name(const Scene& scene);

const ChatFlow& chat_flow(Scene& scene, float width);
bool is_written(const Scene& scene, int token);
/// Returns the probability that the model gave a token that it wrote; 0 of others.
float written_probability(const Scene& scene, int token);

void draw_chat(Scene& scene, Rect area);
/// Asks for the answer without interventions, where there are some and the whole answer is shown.
std::optional<OwnAnswerRequest> own_answer_request(const Scene& scene);
/// Draws what masks change in the answer; returns its height, 0 without masks. `draw`: else only measures.
float draw_own_answer(Scene& scene, Rect area, bool draw);
/// Draws the maps turns × turns, down to the area's bottom.
void draw_turn_maps(Scene& scene, Rect area);
void draw_chat_side(Scene& scene, Rect area);
bool draw_chat_list(Scene& scene, Rect area);
std::vector<NumberTable> chat_numbers(const Scene& scene);

View chat_view();

}  // namespace headlight
