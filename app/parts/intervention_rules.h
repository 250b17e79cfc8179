// Interventions on the same cells of whole layers, and the list of all that are in force.
#pragma once

#include "parts/controls.h"

namespace headlight {

/// Which cells a rule is of, made of the one that is shown: it, its row, its column, or its key for this
/// query and all later ones, those still to be written too.
enum class RuleCells { cell, row, column, later };

struct RulePanel {
    RuleCells cells = RuleCells::cell;
    bool masks = true;                // or unmasks
    float scroll = 0;                 // of the interventions in force
    std::optional<Change> previewed;  // the mouse rests on it: the heat map shows its cells
};

/// A rule that a click puts in force.
struct Rule {
    std::string name;  // "this layer", "all cross-attention"
    Change change;
};

/// The cells of a rule that begins at a cell, in no place yet.
Change cells_of_rule(RuleCells cells, bool masks, std::pair<int, int> cell);
/// The places where such cells may be changed, from the shown head to all layers that read the same tokens;
/// where encoder and decoder differ, everywhere too.
std::vector<Rule> rules_for(const ModelConfig& config, AttentionHead shown, const Change& cells);
/// How many heads a change concerns.
int heads_concerned(const ModelConfig& config, const Change& change);

/// Whether their list is open.
bool rules_are_open();
/// "Interventions…" at the left of their line: a press opens the list. Takes its room off the toolbar.
void draw_rules_button(Scene& scene, Toolbar& bar);

}  // namespace headlight
