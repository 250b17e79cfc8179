#include "session/fetching.h"

#include "base/check.h"
#include "io/json.h"

namespace headlight {

void FetchState::visit(FieldVisitor& v) {
    v.report("fetching", going != nullptr);
    v.report("hub_typed", typed);
    v.report("fetch_error", error);
    v.report("fetched", fetched);
}

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
