// Selects the heads drawn as lines, and the share of their rows: one setting for all such views.
#pragma once

#include <set>
#include <vector>

#include "parts/view.h"
#include "session/commands/command.h"

namespace headlight {

struct LayerHeads {
    float share = 0.7f;    // of each row's weight to draw
    std::set<int> hidden;  // not drawn
    void visit(FieldVisitor& visitor);
};

std::vector<Command> layer_heads_commands();

/// Returns the shown layer, or its only drawn head.
ShownHeads drawn_heads_of_layer(const Session& session, const ModelConfig& config);
/// The drawn heads of the shown layer.
std::vector<int> drawn_heads(const Scene& scene);

/// Their links as last computed, or null.
const LayerLinks* shown_links(const Scene& scene);

/// Draws the list of the layer's heads; click toggles one.
void draw_layer_heads(Scene& scene, Rect area);

}  // namespace headlight
