// Measures effects on the metric: of heads ablated one by one, of changes in order; and which heads moved.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "analysis/comparison/run_pair.h"
#include "analysis/prediction/metric.h"

namespace headlight {

/// Holds the effect of ablating each head: on the metric, and on its token A's probability, logit and log p.
struct HeadEffects {
    Metric metric;  // resolved
    MetricValues before;
    PerHead<float> change, probability, logit, log_probability;
    bool empty() const { return change.empty(); }
    MetricValues of(size_t head) const {
        return {change[head], probability[head], logit[head], log_probability[head]};
    }
};

/// Ablates each head of `trace` in turn (z = 0). `own`: the unchanged run, which resolves the metric's token
/// and position and which divergences refer to; null: `trace` itself. Reuses the layers before the head from
/// `trace`. Calls `seen` (or null) with the number of heads done and the effects so far, NaN where not
/// measured. Fails if the metric is undefined, or `cancel` was set.
Result<HeadEffects> head_effects(const Trace& trace, const Trace* own, const Metric& metric, ThreadPool& pool,
                                 const CancelFlag* cancel = nullptr,
                                 const std::function<void(int, const HeadEffects&)>& seen = nullptr);

/// Holds the metric of a run, and without each of some groups of heads.
struct Ablations {
    Metric metric;  // resolved
    MetricValues before;
    std::vector<MetricValues> without;
};
/// Ablates the heads of each group together (z = 0); otherwise as `head_effects`.
Result<Ablations> ablate_groups(const Trace& trace, const Trace* own, const Metric& metric,
                                const std::vector<std::vector<AttentionHead>>& groups, ThreadPool& pool,
                                const CancelFlag* cancel = nullptr);

/// Measures how far the active interventions moved each head's row at the metric's position from the model's
/// own: Jensen–Shannon divergence in bits. Heads with other queries, as an encoder's, count by the mean of
/// their rows; so do all heads if no row moved there.
struct Moved {
    int position = -1;         // −1: rows are averaged
    PerHead<float> distances;  // empty without changes
    /// Returns the heads that moved by 0.0005 bits or more, the farthest first.
    std::vector<AttentionHead> heads(const ModelConfig& config) const;
};
struct MovedRequest {
    using Answer = Moved;
    int position = -1;  // in the output sequence; −1: where the model predicts
    bool operator==(const MovedRequest&) const = default;
};
Result<Moved> answer_moved(const Runs& runs, const MovedRequest& request, ThreadPool& pool,
                           const CancelFlag* cancel);

/// Returns the change that ablates a head by its output, which leaves its pattern as it is; or null.
const Change* ablation_of(const Intervention& changes, AttentionHead head);
/// Returns the head that moved farthest but was not ablated itself.
std::optional<AttentionHead> most_moved(const Moved& moved, const ModelConfig& config,
                                        const Intervention& changes);

/// Reports the metric of the shown run.
struct MetricReport {
    std::string refusal;  // why it is undefined, or empty
    Metric metric;        // resolved
    MetricValues before, now;
    bool changed = false;                    // something is changed; else both are equal
    std::vector<ProbabilityChange> effects;  // of the changes at its position, largest first
};
struct MetricRequest {
    using Answer = MetricReport;
    Metric metric;
    bool operator==(const MetricRequest&) const = default;
};
Result<MetricReport> answer_metric(const Runs& runs, const MetricRequest& request, ThreadPool& pool,
                                   const CancelFlag* cancel);

/// Reports the metric after each of the changes in turn; empty if it is undefined.
struct Stages {
    Metric metric;  // resolved
    int first = 0;  // interventions active at the first stage
    std::vector<MetricValues>
        values;  // at each stage: mask and `first` changes, then one more at a time; the last: all
};
struct StagesRequest {
    using Answer = Stages;
    Metric metric;
    bool operator==(const StagesRequest&) const = default;
};
Result<Stages> answer_stages(const Runs& runs, const StagesRequest& request, ThreadPool& pool,
                             const CancelFlag* cancel);

}  // namespace headlight
