// Spaces out what a long measurement reports.
#pragma once

#include <chrono>

namespace headlight {

/// Says when to copy and report results so far: at intervals, not after each step.
class Pace {
public:
    explicit Pace(std::chrono::milliseconds between = std::chrono::milliseconds(150)) : between_(between) {}
    bool is_due() {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < between_) return false;
        last_ = now;
        return true;
    }

private:
    std::chrono::milliseconds between_;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace headlight
