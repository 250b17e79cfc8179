// Measures what changes do to the metric: heads ablated one by one, the changes in force, one after another;
// and which heads moved.
#pragma once

#include <functional>
#include <vector>

#include "analysis/comparison/run_pair.h"
#include "analysis/prediction/metric.h"

namespace headlight {

/// Holds the effect of ablating each head: the change of the metric, and of its token A's probability, logit
/// and log p.
struct HeadEffects {
    Metric metric;  // resolved
    PerHead<float> change, probability, logit, log_probability;
    bool empty() const { return change.empty(); }
    MetricValues of(size_t head) const {
        return {change[head], probability[head], logit[head], log_probability[head]};
    }
};

/// Ablates each head of `trace` in turn (z = 0). `own`: the unchanged run, which resolves the metric's token
/// and position and which divergences refer to; null: `trace` itself. Reuses the layers before the head from
/// `trace`. Calls `seen` (or null) with the number of heads done. Fails if the metric is undefined, or
/// `cancel` was set.
Result<HeadEffects> head_effects(const Trace& trace, const Trace* own, const Metric& metric, ThreadPool& pool,
                                 const CancelFlag* cancel = nullptr,
                                 const std::function<void(int)>& seen = nullptr);

/// Measures how far the changes in force moved each head's pattern from the model's own.
struct Moved {
    PerHead<float> distances;  // empty without changes
};
struct MovedRequest {
    using Answer = Moved;
    bool operator==(const MovedRequest&) const = default;
};
Result<Moved> answer_moved(const Runs& runs, const MovedRequest& request, ThreadPool& pool,
                           const CancelFlag* cancel);

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
    int first = 0;  // changes in force at the first stage
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
