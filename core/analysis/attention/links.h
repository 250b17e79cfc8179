// Selects the heaviest links of a head, for pictures that draw attention as lines.
#pragma once

#include <vector>

#include "analysis/attention/shown.h"

namespace headlight {

struct Link {
    int key;
    float weight;
};

/// Holds the strongest links of every head of one attention block.
struct LayerLinks {
    std::vector<std::vector<std::vector<Link>>> of_head;  // [head][query], heaviest first
    /// [head][query]: weight of the head's sink, which is no key; empty: the block has none
    std::vector<Vector> sinks;
    /// Returns whether the sink is among the heaviest of a row that together have `share` of it.
    bool draws_sink(int head, int query, float share) const;
};

struct LinksRequest {
    using Answer = LayerLinks;
    int block = 0;
    float share = 0.7f;
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const;
    bool operator==(const LinksRequest&) const = default;
};

/// Selects for each query the heaviest keys that together have at least `share` of its row, at most 32, so
/// that memory grows with the tokens and not with their square; a sink counts as one more key of the row.
/// Fails if `cancel` was set.
Result<LayerLinks> answer_links(const Trace& trace, const LinksRequest& request, ThreadPool& pool,
                                const CancelFlag* cancel = nullptr);

/// Selects the heaviest keys of a row until they have `share`, at most `max`, none of weight 0; the weight of
/// a sink counts among those that are heavier than the next key.
std::vector<Link> heaviest_links(const float* row, const KeyRange& keys, float share, int max,
                                 float sink = 0);

}  // namespace headlight
