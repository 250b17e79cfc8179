// Every head ablated in turn, beside the worker: its effect on one predicted token.
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
    /// Begins; `done` is called on the sweep's thread at its end, unless it was stopped. `token` −1: what the
    /// run predicts.
    Sweep(std::shared_ptr<const Trace> trace, int token, std::function<void()> done);
    /// Cancels it and waits until it has stopped.
    ~Sweep() { stop(); }
    void stop();

    bool is_of(const Trace* trace, int asked) const { return trace_.get() == trace && asked_ == asked; }
    int heads_done() const { return done_heads_; }
    int heads() const { return trace_->config().head_count(); }
    bool ended() const { return ended_; }
    int token() const { return token_; }
    /// Change of its probability by ModelConfig::head_index; empty where nothing is predicted. Only when
    /// ended.
    const PerHead<float>& change() const { return change_; }
    /// Why it could not be measured, or empty. Only when ended.
    const std::string& failure() const { return failure_; }

private:
    Status measure();

    std::shared_ptr<const Trace> trace_;
    int asked_, token_ = -1;
    std::atomic<int> done_heads_{0};
    std::atomic<bool> ended_{false};
    CancelFlag cancel_{false};
    PerHead<float> change_;
    std::string failure_;
    std::thread thread_;
};

}  // namespace headlight
