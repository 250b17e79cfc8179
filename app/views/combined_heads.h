// Combines several heads into one pattern by mean or maximum, for all views of one head's weights.
#pragma once

#include <utility>
#include <vector>

#include "paint/toolbar.h"
#include "parts/scene.h"
#include "session/commands/command.h"

namespace headlight {

enum class MapOf { head, mean, max };
enum class HeadsFrom { layer, all, chosen };

struct CombinedHeads {
    MapOf of = MapOf::head;
    HeadsFrom from = HeadsFrom::layer;
    std::vector<std::pair<int, int>> chosen;  // block, head; empty: the layer's
    void visit(FieldVisitor& visitor);
};

/// Returns the heads shown as one; nullopt for a single head.
std::optional<HeadGroup> combined_heads(const Session& session, const ModelConfig& config);

void combine_heads(Session& session, MapOf of, HeadsFrom from, const std::vector<AttentionHead>& chosen);

/// Parses "layer", "all" or "1.2,3.0".
Status choose_combined(Session& session, const ModelConfig& config, MapOf of, const std::string& which);

std::vector<Command> combined_heads_commands();

void choose_combination(Scene& scene, Toolbar& bar);
/// How wide that is.
float combination_width(Scene& scene);

void draw_group_inspector(Scene& scene, Rect area, std::pair<int, int> cell);

}  // namespace headlight
