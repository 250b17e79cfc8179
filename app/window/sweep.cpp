#include "window/sweep.h"

namespace headlight {

Sweep::Sweep(std::shared_ptr<const Trace> trace, int token, std::function<void()> done) : trace_(std::move(trace)), asked_(token) {
    thread_ = std::thread([this, done = std::move(done)] {
        ThreadPool pool(1);  // the worker keeps the rest
        const auto positions = predicting_positions(*trace_);
        if (!positions.empty()) {
            token_ = asked_ >= 0 ? asked_ : predictions(*trace_, positions[0], 1, pool)[0].id;
            auto change = head_effects(*trace_, positions[0], token_, pool, &cancel_, &done_heads_);
            if (!change) return;
            change_ = *std::move(change);
        }
        ended_ = true;
        done();
    });
}

void Sweep::stop() {
    cancel_ = true;
    if (thread_.joinable()) thread_.join();
}

}  // namespace headlight
