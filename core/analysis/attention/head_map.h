// Compares heads: which attend alike.
#pragma once

#include "analysis/attention/head_summary.h"

namespace headlight {

/// Places all heads in a plane, heads with similar patterns near each other.
struct HeadMap {
    Matrix points;   // [head_count, 2], in the order of PerHead
    float kept = 0;  // share of the variance that the plane keeps
};

/// Requests principal components of the square roots of the patterns, reduced to 32 × 32: distances before
/// the projection are Hellinger's, summed over rows.
struct HeadMapRequest {
    using Answer = HeadMap;
    bool operator==(const HeadMapRequest&) const = default;
};

Result<HeadMap> answer_head_map(const Trace& trace, const HeadMapRequest& request, ThreadPool& pool,
                                const CancelFlag* cancel);

}  // namespace headlight
