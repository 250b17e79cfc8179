#include "session/sweep.h"

#include "base/check.h"

namespace headlight {

Sweep::Sweep(std::shared_ptr<const Trace> trace, int token, std::function<void()> done)
    : trace_(std::move(trace)), asked_(token) {
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
    const auto positions = predicting_positions(*trace_);
    if (positions.empty()) return success();
    token_ = asked_ >= 0 ? asked_ : predictions(*trace_, positions[0], 1, pool)[0].id;
    TRY(change_, head_effects(*trace_, positions[0], token_, pool, &cancel_, &done_heads_));
    return success();
}

void Sweep::stop() {
    cancel_ = true;
    if (thread_.joinable()) thread_.join();
}

}  // namespace headlight
