// Every head ablated in turn, beside the worker: its effect on the metric.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "analysis/effects.h"

namespace headlight {

class Sweep {
public:
    /// Begins; `done` is called on the sweep's thread at its end, unless it was stopped. `own`: the unchanged
    /// run, or null.
    Sweep(std::shared_ptr<const Trace> trace, std::shared_ptr<const Trace> own, const Metric& metric,
          std::function<void()> done);
    /// Cancels it and waits until it has stopped.
    ~Sweep() { stop(); }
    void stop();

    bool is_of(const Trace* trace, const Metric& asked) const {
        return trace_.get() == trace && asked_ == asked;
    }
    int heads_done() const { return done_heads_; }
    int heads() const { return trace_->config().head_count(); }
    bool ended() const { return ended_; }
    /// Empty where it could not be measured. Only when ended.
    const HeadEffects& effects() const { return effects_; }
    /// Why it could not be measured, or empty. Only when ended.
    const std::string& failure() const { return failure_; }

private:
    Status measure();

    std::shared_ptr<const Trace> trace_, own_;
    Metric asked_;
    std::atomic<int> done_heads_{0};
    std::atomic<bool> ended_{false};
    CancelFlag cancel_{false};
    HeadEffects effects_;
    std::string failure_;
    std::thread thread_;
};

}  // namespace headlight
