// Shows every kind of attention of one layer: in an encoder–decoder encoder, masked decoder and cross.
#pragma once

#include <vector>

#include "analysis/attention/shown.h"

namespace headlight {

/// Holds one block's pattern; each entry is the largest of `step` × `step` cells, kMasked if all are
/// masked.
struct BlockPattern {
    int block = 0, step = 1;
    bool is_mixing = false;  // signed: Trace::is_mixing
    Matrix weights;
};

struct LayerPatternsRequest {
    using Answer = std::vector<BlockPattern>;  // one per kind, in the order of the blocks
    int layer = 0, head = -1;                  // nearest layer that a stack has; head −1: the mean of all
    void clamp_to(const Trace& trace);
    bool operator==(const LayerPatternsRequest&) const = default;
};
Result<std::vector<BlockPattern>> answer_layer_patterns(const Trace& trace,
                                                        const LayerPatternsRequest& request, ThreadPool& pool,
                                                        const CancelFlag* cancel = nullptr);

}  // namespace headlight
