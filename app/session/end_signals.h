// Handles SIGTERM, SIGHUP and SIGINT as a request to quit, so that work is saved at logout too.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace headlight {

/// During its lifetime, the first of these signals sets received() and calls `wake` on its own thread; the
/// second ends the process as usual. At most one instance.
class EndSignals {
public:
    explicit EndSignals(std::function<void()> wake);
    ~EndSignals();
    EndSignals(const EndSignals&) = delete;
    EndSignals& operator=(const EndSignals&) = delete;

    bool received() const { return received_; }

private:
    std::function<void()> wake_;
    std::atomic<bool> received_{false};
    int pipe_[2] = {-1, -1};
    std::thread thread_;
};

}  // namespace headlight
