// Changes that a recorded run was under, as far as its patterns do not show them: which heads, blocks and
// rows were removed or replaced.
#pragma once

#include <vector>

#include "trace/trace_reader.h"

namespace headlight {

/// Those that the file names; of a kind that patterns show, none.
Result<std::vector<Change>> recorded_changes(const TraceReader& in, const ModelConfig& config);

/// Notes them in the rule of a block, and in what is known of a layer, whose values nobody recorded.
void note_changes(const std::vector<Change>& changes, const ModelConfig& config, int block, int queries,
                  AttentionRule& rule);
void note_changes(const std::vector<Change>& changes, int block, int tokens, LayerChanges& layer);

}  // namespace headlight
