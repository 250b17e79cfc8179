// Every head ablated in turn, beside the worker: its effect on the metric.
#pragma once

#include <memory>

#include "analysis/patching/effects.h"
#include "session/work/background_job.h"

namespace headlight {

class Sweep {
public:
    /// Begins; `done` is called on the sweep's thread at its end, unless it was stopped. `own`: the unchanged
    /// run, or null.
    Sweep(std::shared_ptr<const Trace> trace, std::shared_ptr<const Trace> own, const Metric& metric,
          std::function<void()> done);
    /// Cancels it and waits until it has stopped.
    void stop() { measuring_.stop(); }

    bool is_of(const Trace* trace, const Metric& asked) const {
        return trace_.get() == trace && asked_ == asked;
    }
    int heads_done() const { return done_heads_; }
    int heads() const { return trace_->config().head_count(); }
    bool ended() const { return measuring_.ended(); }
    /// Empty where it could not be measured. Only when ended; lives as long as this.
    const HeadEffects& effects() const { return *measuring_.found().effects; }
    /// Why it could not be measured, or empty. Only when ended.
    std::string failure() const { return measuring_.found().failure; }

private:
    struct Found {
        std::shared_ptr<const HeadEffects> effects = std::make_shared<const HeadEffects>();
        std::string failure;
    };
    std::shared_ptr<const Trace> trace_, own_;
    Metric asked_;
    std::atomic<int> done_heads_{0};
    Measuring<Found> measuring_;  // the last: it ends before what it reads
};

}  // namespace headlight
