// Steps: one query's attention as a table, the whole block around it, or the block in all heads.
#pragma once

#include "io/numbers.h"
#include "session/viewport.h"
#include "views/steps/steps_strips.h"

namespace headlight {

struct View;

/// A column of the table (order: step_columns). delta: ‖ΔE‖ below it; edited, tempered: after interventions;
/// to_position, from_position: what disentangled attention adds (DeBERTa); gated: through the block's gate.
enum class StepColumn {
    dot,
    scaled,
    capped,
    bias,
    mask,
    exp,
    weight,
    value,
    moved,
    delta,
    edited,
    tempered,
    to_position,
    from_position,
    gated
};
/// True if it follows from the pattern; else it is part of the score.
inline bool is_after_weight(StepColumn c) {
    return (c >= StepColumn::weight && c <= StepColumn::delta) || c == StepColumn::gated;
}

enum class StepOrder { text, weight };

enum class StepsShow { attention, block, heads };

struct StepsState {
    StepsShow show = StepsShow::attention;
    ChainStep stage = ChainStep::q;  // explained stage of the whole block
    int entry = -1;                  // … and its entry; −1: the largest
    float chain_hidden = 0;          // height scrolled out of sight
    StepOrder order = StepOrder::text;
    StepColumn column = StepColumn::dot;  // the explained number of the focused row
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
