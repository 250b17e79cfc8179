#include "session/sweep.h"

#include "base/check.h"

namespace headlight {

Sweep::Sweep(std::shared_ptr<const Trace> trace, std::shared_ptr<const Trace> own, const Metric& metric,
             std::function<void()> done)
    : trace_(std::move(trace)), own_(std::move(own)), asked_(metric) {
    thread_ = std::thread([this, done = std::move(done)] {
        const Status measured = guarded([&] { return measure(); });
        if (!measured && measured.error().cancelled) return;
        if (!measured) failure_ = measured.error().message;
        ended_ = true;
        done();
    });
}

Status Sweep::measure() {
    ThreadPool pool(1);  // the worker keeps the rest
    const CancelScope scope(pool, &cancel_);
    TRY(effects_, head_effects(*trace_, own_.get(), asked_, pool, &cancel_, &done_heads_));
    return success();
}

void Sweep::stop() {
    cancel_ = true;
    if (thread_.joinable()) thread_.join();
}

}  // namespace headlight
