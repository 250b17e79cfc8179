// Combines several heads into one picture: the mean, or the maximum, of their patterns.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace headlight {

/// Says how to combine the weights of several heads.
enum class Combine { mean, max };

/// Groups heads with the same tokens as queries, and the same as keys.
struct HeadGroup {
    Combine by = Combine::mean;
    std::vector<AttentionHead> heads;  // in order, each once
    bool operator==(const HeadGroup&) const = default;
};

/// Returns whether two blocks have the same queries and the same keys, and both softmax or neither, so that
/// weights of their heads may be set beside one another.
bool read_alike(const ModelConfig& config, int a, int b);

/// Return all heads of a block, or all heads of the model that read the same tokens as a block.
std::vector<AttentionHead> heads_of_block(const ModelConfig& config, int block);
std::vector<AttentionHead> heads_alike(const ModelConfig& config, int block);

/// Returns the heads of the group that the model has and that read a block's tokens; none: no group left.
std::optional<HeadGroup> fitted(const std::optional<HeadGroup>& group, const ModelConfig& config, int block);

/// Returns "Mean of 8 heads, layer 1", "Max of all 32 heads", "Mean of heads 0.1, 2.3".
std::string group_title(const ModelConfig& config, const HeadGroup& group);

/// [rows, keys] for queries from `first` on; kMasked where every head masks the key; heads that mask a key
/// count as 0 there. Rows of a mean sum to 1 where those of the heads do. Holds two maps of `rows` rows,
/// however many heads there are. `drop_sink`: removes each head's first key (without_first_key).
Matrix combined_pattern_rows(const Trace& trace, const HeadGroup& group, int first, int rows,
                             bool drop_sink = false);
/// [queries, keys]: all rows.
Matrix combined_pattern(const Trace& trace, const HeadGroup& group, bool drop_sink = false);

/// Averages the masked patterns of some heads of a block; of all if none are named.
Matrix mean_pattern(const Trace& trace, int block, const std::vector<int>& heads = {});

}  // namespace headlight
