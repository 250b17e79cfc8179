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
/// that memory grows with the tokens and not with their square. Fails if `cancel` was set.
Result<LayerLinks> answer_links(const Trace& trace, const LinksRequest& request, ThreadPool& pool,
                                const CancelFlag* cancel = nullptr);

/// Selects the heaviest keys of a row until they have `share`, at most `max`, none of weight 0.
std::vector<Link> heaviest_links(const float* row, const KeyRange& keys, float share, int max);

}  // namespace headlight
