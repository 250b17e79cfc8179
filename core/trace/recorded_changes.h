// Restores changes of a recorded run that patterns do not show: heads, blocks and rows removed or replaced.
#pragma once

#include <vector>

#include "trace/trace_reader.h"

namespace headlight {

/// Reads the changes that the file names; ignores kinds that patterns show.
Result<std::vector<Change>> recorded_changes(const TraceReader& in, const ModelConfig& config);

/// Records them in the rules of blocks and layers; their values were not recorded.
void note_changes(const std::vector<Change>& changes, const ModelConfig& config, int block, int queries,
                  AttentionRule& rule);
void note_changes(const std::vector<Change>& changes, int block, int tokens, LayerChanges& layer);

}  // namespace headlight
