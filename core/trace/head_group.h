// Several heads as one picture: the mean, or the largest, of their patterns.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace headlight {

/// What becomes of a weight that each of several heads has.
enum class Combine { mean, max };

/// Heads whose queries are the same tokens, and whose keys are.
struct HeadGroup {
    Combine by = Combine::mean;
    std::vector<AttentionHead> heads;  // in order, each once
    bool operator==(const HeadGroup&) const = default;
};

/// All heads of a block; all heads of the model that read the same tokens as a block.
std::vector<AttentionHead> heads_of_block(const ModelConfig& config, int block);
std::vector<AttentionHead> heads_alike(const ModelConfig& config, int block);

/// The heads of it that a model has and that read the same tokens as a block; none: no group.
std::optional<HeadGroup> fitted(const std::optional<HeadGroup>& group, const ModelConfig& config, int block);

/// "Mean of 8 heads, layer 1", "Max of all 32 heads", "Mean of heads 0.1, 2.3".
std::string group_title(const ModelConfig& config, const HeadGroup& group);

/// [rows, keys] for queries from `first` on; −1 where every head masks the key, and a key that some heads
/// mask weighs 0 in these. Rows of a mean sum to 1. Two maps of so many rows are held, however many heads.
/// `drop_sink`: of each head without its first key (without_first_key).
Matrix combined_pattern_rows(const Trace& trace, const HeadGroup& group, int first, int rows,
                             bool drop_sink = false);
/// [queries, keys] of it.
Matrix combined_pattern(const Trace& trace, const HeadGroup& group, bool drop_sink = false);

/// The mean of the masked patterns of some heads of a block; of all where none are named.
Matrix mean_pattern(const Trace& trace, int block, const std::vector<int>& heads = {});

}  // namespace headlight
