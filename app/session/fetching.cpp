#include "session/fetching.h"

#include "base/check.h"

namespace headlight {

Fetching::Fetching(FetchRequest request, std::function<void()> done) : request_(std::move(request)) {
    thread_ = std::thread([this, done = std::move(done)] {
        result_ = guarded([&] { return fetch_model(request_, progress_, &cancel_); });
        ended_ = true;
        done();
    });
}

Fetching::~Fetching() {
    cancel_ = true;
    if (thread_.joinable()) thread_.join();
}

}  // namespace headlight
