// Draws a progress bar on standard error.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>

namespace headlight {

/// Draws only if standard error is a terminal. Any thread may step.
class Progress {
public:
    Progress(int total, bool quiet);
    ~Progress();  // wipes the bar
    void step();

private:
    void draw(int done);

    int total_;
    bool shown_;
    std::atomic<int> done_{0};
    std::mutex mutex_;
    std::chrono::steady_clock::time_point drawn_{};
};

}  // namespace headlight
