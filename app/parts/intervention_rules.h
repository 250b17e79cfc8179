// Applies interventions to the same cells of whole layers, and lists the active ones.
#pragma once

#include "parts/controls.h"

namespace headlight {

/// The cells of a rule: the shown cell, its row, its column, or its key for this and later queries.
enum class RuleCells { cell, row, column, later };

struct RulePanel {
    RuleCells cells = RuleCells::cell;
    bool masks = true;                // or unmasks
    float scroll = 0;                 // of the active interventions
    std::optional<Change> previewed;  // hovered: the heat map shows its cells
};

/// A rule that a click applies.
struct Rule {
    std::string name;  // "this layer", "all cross-attention"
    Change change;
};

/// A change of a rule's cells, with no block or head yet.
Change cells_of_rule(RuleCells cells, bool masks, std::pair<int, int> cell);
/// Rules for these cells, of the shown head up to all layers that read these tokens, or everywhere.
std::vector<Rule> rules_for(const ModelConfig& config, AttentionHead shown, const Change& cells);
/// The number of heads that a change affects.
int count_affected(const ModelConfig& config, const Change& change);

bool rules_are_open();
/// The button "Interventions…", which opens their list.
void draw_rules_button(Scene& scene, Toolbar& bar);

}  // namespace headlight
