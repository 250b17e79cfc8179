// The heaviest links of a head, for pictures that draw attention as lines.
#pragma once

#include <memory>
#include <vector>

#include "trace/trace.h"

namespace headlight {

struct Link {
    int key;
    float weight;
};

/// The strongest links of every head of one attention block.
struct LayerLinks {
    int site = 0;
    float share = 0;                                       // of each row's mass that the links make up
    std::vector<std::vector<std::vector<Link>>> of_head;   // [head][query], heaviest first
};

/// For each query the heaviest keys that together weigh at least `share` of its row, at most `most` of them, so that
/// memory grows with the tokens and not with their square. An error means that `cancel` was set.
Result<LayerLinks> strongest_links(const Trace& trace, int site, float share, int most, ThreadPool& pool, const CancelFlag* cancel = nullptr);

}  // namespace headlight
