// One query's attention as a table of steps.
#pragma once

#include "io/numbers.h"
#include "session/viewport.h"
#include "views/steps/steps_strips.h"

namespace headlight {

struct View;

/// A column of the table (step_columns has their order); delta: the length under it. edited, tempered: what a
/// person made of scores.
enum class StepColumn { dot, scaled, capped, bias, mask, exp, weight, value, moved, delta, edited, tempered };
/// Whether it stands behind the pattern; else it is about the score.
inline bool is_behind_weight(StepColumn c) { return c >= StepColumn::weight && c <= StepColumn::delta; }

/// In which order the keys stand.
enum class StepOrder { text, weight };

/// What is shown of a query: what each of its keys goes through, the whole block around it, or the block in
/// every head.
enum class StepsShow { attention, block, heads };

struct StepsState {
    StepsShow show = StepsShow::attention;
    ChainStep stage = ChainStep::q;  // of the whole block, and the entry of it that is explained; −1: the
    int entry = -1;                  // largest
    float chain_hidden = 0;          // of a chain that is higher than its room
    StepOrder order = StepOrder::text;
    StepColumn column = StepColumn::dot;  // the number of the focused row that is explained
    Viewport seen;
    std::pair<int, int> followed{-1, -1};
    StripsState strips;
    void visit(FieldVisitor& visitor);
};

void draw_steps(Scene& scene, Rect area);
bool draw_steps_inspector(Scene& scene, Rect area);
std::vector<Question> ask_steps(const Scene& scene);
std::vector<NumberTable> steps_numbers(const Scene& scene);

View steps_view();

}  // namespace headlight
