// The mean or the largest of several heads in place of one: a choice that all views of one head's weights
// share.
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
    std::vector<std::pair<int, int>> chosen;  // block, head; none: the layer's
    void visit(FieldVisitor& visitor);
};

/// The heads that are shown as one; none where it is the chosen head alone.
std::optional<HeadGroup> combined_heads(const Session& session, const ModelConfig& config);

/// Shows these as one, from now on.
void combine_heads(Session& session, MapOf of, HeadsFrom from, const std::vector<AttentionHead>& chosen);

/// "layer", "all" or "1.2,3.0": which heads of a model are combined.
Status choose_combined(Session& session, const ModelConfig& config, MapOf of, const std::string& which);

/// The rows that choose which heads.
std::vector<Command> combined_heads_commands();

/// One head, mean or max; and of which heads.
void choose_combination(Scene& scene, Toolbar& bar);

/// What the inspector says of a cell of several heads.
void draw_group_inspector(Scene& scene, Rect area, std::pair<int, int> cell);

}  // namespace headlight
