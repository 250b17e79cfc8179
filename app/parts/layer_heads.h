// Which heads of a layer are drawn as lines, and how much of their rows: one choice of all views that draw
// several heads at once.
#pragma once

#include <set>
#include <vector>

#include "parts/scene.h"
#include "session/commands/command.h"

namespace headlight {

struct LayerHeads {
    float share = 0.7f;    // of each row's mass that is drawn
    std::set<int> hidden;  // not drawn
    void visit(FieldVisitor& visitor);
};

/// Chooses the heads by their names.
std::vector<Command> layer_heads_commands();

/// The head that is drawn alone of several; none: several are.
std::optional<AttentionHead> drawn_alone(const Session& session, const ModelConfig& config);
/// The heads of the shown layer that are drawn.
std::vector<int> drawn_heads(const Scene& scene);

/// Their links as they were last found, or null.
const LayerLinks* shown_links(const Scene& scene);

/// The list of the layer's heads; a click switches one.
void draw_layer_heads(Scene& scene, Rect area);

}  // namespace headlight
