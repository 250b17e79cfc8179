// Follows the prediction over the strengths of an adapter.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/comparison/run_pair.h"
#include "analysis/prediction/metric.h"

namespace headlight {

/// Names a token that is the most probable one at some strength.
struct StrengthToken {
    int id = 0;
    std::string label;
    std::vector<float> probabilities;  // at each strength; NaN: not measured yet
};

/// Holds what is predicted at kCount strengths, from kFirst to kLast in equal steps.
struct StrengthCurve {
    static constexpr int kCount = 31;
    static constexpr float kFirst = -1, kLast = 2;
    static constexpr size_t kMaxTokens = 4;

    Metric metric;                      // resolved in the base, at strength 0
    std::vector<float> values;          // of the metric, at each strength; NaN: not measured yet
    std::vector<int> first;             // the most probable token at each strength; −1: not measured yet
    std::vector<StrengthToken> tokens;  // of `first`, in the order of strengths; at most kMaxTokens
    int done = 0;                       // strengths measured

    /// −1, −0.9 … 2; a multiple of 0.1 as a decimal spells it.
    static float strength(int point);
    /// Returns the nearest point to a strength within the range.
    static int point_at(float strength);
    const StrengthToken* token(int id) const;
};

/// Runs the request of `shown` at each strength of its model's adapter, those at 0 and 1 and the ends first,
/// then between them, and calls `seen` (or null) with what is known after each. A divergence is taken from
/// the base with the same interventions. Of tokens that are the most probable one somewhere it keeps those at
/// 0 and 1 and those at most strengths. Fails if the model has no adapter or predicts nothing, if the metric
/// is undefined, or if `cancel` was set.
Result<StrengthCurve> strength_curve(const Trace& shown, const Metric& metric, ThreadPool& pool,
                                     const CancelFlag* cancel = nullptr,
                                     const std::function<void(const StrengthCurve&)>& seen = nullptr);

/// The curve, or why there is none.
struct StrengthsFound {
    std::shared_ptr<const StrengthCurve> curve;  // null: nothing is measured yet, or refused
    std::string refusal;
};

/// Asks for the curve of the shown run's model, whatever its strength.
struct StrengthsRequest {
    using Answer = StrengthsFound;
    Metric metric;
    bool operator==(const StrengthsRequest&) const = default;
    /// Returns whether two runs have the same curve: they read the same text in models that differ at most by
    /// their adapter's strength.
    static bool same_for(const Trace& a, const Trace& b);
};
Result<StrengthsFound> measure_strengths(const Runs& runs, const StrengthsRequest& request, ThreadPool& pool,
                                         const CancelFlag* cancel,
                                         const std::function<void(StrengthsFound)>& seen);

/// "The base predicts ball. From 0.6 on the model predicts one, from 1.4 on ball again.", as the strength
/// grows from 0 to 2; "" while it is not known.
std::string strength_summary(const StrengthCurve& curve, const Model& model);

}  // namespace headlight
