#include "session/fetching.h"

#include "base/check.h"

namespace headlight {

Fetching::Fetching(FetchWanted wanted, std::function<void()> done) : wanted_(std::move(wanted)) {
    thread_ = std::thread([this, done = std::move(done)] {
        result_ = guarded([&] { return fetch_model(wanted_, progress_, &cancel_); });
        ended_ = true;
        done();
    });
}

Fetching::~Fetching() {
    cancel_ = true;
    if (thread_.joinable()) thread_.join();
}

}  // namespace headlight
