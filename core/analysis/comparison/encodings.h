// Measures what the encoding of weights costs: the same model in two encodings on one text, and each matrix
// of the narrower one put back in turn.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/comparison/compare.h"
#include "analysis/prediction/metric.h"

namespace headlight {

/// Says what a matrix, or those of all experts of a layer, costs.
struct MatrixCost {
    std::string name;           // "blocks.3.attn.W_Q"
    std::string format, exact;  // how it is stored in both: "Q4_0", "F16"
    int64_t bytes = 0;          // in the narrower one
    float cost = 0;             // of the metric: its value now less its value with this matrix put back
};

struct EncodingCosts {
    Metric metric;  // resolved in the exact run
    MetricValues exact, coded;
    std::vector<MatrixCost> matrices;  // stored otherwise; the largest |cost| first
    PerHead<float> patterns;           // how far each head's pattern moved (head_distances)
};

/// Runs the request on both, then on `coded` with one matrix of `exact` at a time. `seen` (or null) gets how
/// many of how many are done. Fails if the models are not two encodings of one, or `cancel` was set.
Result<EncodingCosts> encoding_costs(const std::shared_ptr<const Model>& exact,
                                     const std::shared_ptr<const Model>& coded, const ForwardRequest& request,
                                     const std::string& metric, ThreadPool& pool,
                                     const CancelFlag* cancel = nullptr,
                                     const std::function<void(int, int)>& seen = nullptr);

}  // namespace headlight
