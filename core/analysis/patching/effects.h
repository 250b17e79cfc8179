// What changes do to the metric: heads ablated one by one, the changes in force, one after another; and heads
// that moved.
#pragma once

#include <atomic>
#include <vector>

#include "analysis/comparison/run_pair.h"
#include "analysis/prediction/metric.h"

namespace headlight {

/// What ablating each head does: the change of the metric, and of its token A's probability, logit and log p.
struct HeadEffects {
    Metric metric;  // resolved
    PerHead<float> change, probability, logit, log_probability;
    bool empty() const { return change.empty(); }
    MetricValues of(size_t head) const {
        return {change[head], probability[head], logit[head], log_probability[head]};
    }
};

/// Ablates each head of `trace` in turn (its z is 0). `own`: the unchanged run, which names the metric's
/// token and position and which divergences are from; null: `trace` is. Layers before the head are taken from
/// `trace`. `done` counts heads. An error says why the metric cannot be taken, or that `cancel` was set.
Result<HeadEffects> head_effects(const Trace& trace, const Trace* own, const Metric& metric, ThreadPool& pool,
                                 const CancelFlag* cancel = nullptr, std::atomic<int>* done = nullptr);

/// How far the changes in force moved each head's pattern: its distance from the model's own.
struct Moved {
    PerHead<float> distances;  // empty without changes
};
struct MovedRequest {
    using Answer = Moved;
    bool operator==(const MovedRequest&) const = default;
};
Result<Moved> answer_moved(const Runs& runs, const MovedRequest& request, ThreadPool& pool,
                           const CancelFlag* cancel);

/// The metric of the run that is shown.
struct MetricReport {
    std::string refusal;  // why it cannot be taken, or empty
    Metric metric;        // resolved
    MetricValues before, now;
    bool changed = false;                    // something is; else both are alike
    std::vector<ProbabilityChange> effects;  // of the changes at its position, largest first
};
struct MetricRequest {
    using Answer = MetricReport;
    Metric metric;
    bool operator==(const MetricRequest&) const = default;
};
Result<MetricReport> answer_metric(const Runs& runs, const MetricRequest& request, ThreadPool& pool,
                                   const CancelFlag* cancel);

/// The metric as one change after another was made; empty where it cannot be taken.
struct Stages {
    Metric metric;  // resolved
    int first = 0;  // changes that are in force at the first stage
    std::vector<MetricValues>
        values;  // at each stage from there on: mask and `first` changes, and one more, …; the last: all
};
struct StagesRequest {
    using Answer = Stages;
    Metric metric;
    bool operator==(const StagesRequest&) const = default;
};
Result<Stages> answer_stages(const Runs& runs, const StagesRequest& request, ThreadPool& pool,
                             const CancelFlag* cancel);

}  // namespace headlight
