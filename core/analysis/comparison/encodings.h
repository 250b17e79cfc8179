// Measures what the encoding of weights costs: the same model in two encodings on one text, and each matrix
// and each head of the narrower one restored in turn.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/comparison/run_pair.h"
#include "analysis/prediction/metric.h"

namespace headlight {

/// Says what a matrix, or those of all experts of a layer, costs.
struct MatrixCost {
    std::string name;           // "blocks.3.attn.W_Q"
    std::string format, exact;  // how it is stored in both: "Q4_0", "F16"
    int64_t bytes = 0;          // in the narrower one
    float cost = 0;
};

/// Costs are of the metric: its value now less its value with something restored to what it is in the wider
/// encoding.
struct EncodingCosts {
    Metric metric;  // resolved in the exact run
    MetricValues exact, coded;
    std::vector<MatrixCost> matrices;          // stored otherwise; the largest |cost| first
    PerHead<float> heads;                      // of its part of W_Q, W_K, W_V and W_O; NaN: not measured
    PerHead<float> patterns;                   // how far each head's pattern moved (head_distances)
    int64_t exact_bytes = 0, coded_bytes = 0;  // of all matrices
    int done = 0, steps = 0;                   // passes

    bool whole() const { return done == steps; }
};

/// Says what is restored, one after the other.
enum class Restored { matrices, heads, both };

/// Runs the request of both on `coded` with one matrix of the exact model at a time, and with one head's part
/// of its matrices (head_encoding.h); `seen` (or null) gets what is known after each. Fails if the models are
/// not two encodings of one, if they did not read the same tokens, if the metric is undefined, or if `cancel`
/// was set.
Result<EncodingCosts> encoding_costs(const Trace& exact, const Trace& coded, const Metric& metric,
                                     Restored what, ThreadPool& pool, const CancelFlag* cancel = nullptr,
                                     const std::function<void(const EncodingCosts&)>& seen = nullptr);

/// The costs, or why there are none.
struct EncodingsFound {
    std::shared_ptr<const EncodingCosts> costs;  // null: nothing is measured yet, or refused
    bool shown_is_coded = false;                 // else the other run's model is the narrower one
    std::string refusal;
};

/// Asks for the costs of the narrower of the two models that are compared; interventions are left out.
struct EncodingsRequest {
    using Answer = EncodingsFound;
    Metric metric;
    bool operator==(const EncodingsRequest&) const = default;
};
Result<EncodingsFound> measure_encodings(const Runs& runs, const EncodingsRequest& request, ThreadPool& pool,
                                         const CancelFlag* cancel,
                                         const std::function<void(EncodingsFound)>& seen);

}  // namespace headlight
