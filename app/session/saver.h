// Saves changes after a short delay, in the background.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "io/json.h"

namespace headlight {

/// Decides when to check for changes: soon enough after the first that at most one second is lost.
class SaveClock {
public:
    static constexpr double kDelay = 0.5;  // seconds; leaves the rest of the second for writing

    void touch(double now) {
        if (!due_) due_ = now + kDelay;
    }
    /// Seconds until then; none if nothing waits.
    std::optional<double> wait(double now) const {
        return due_ ? std::optional(std::max(0.0, *due_ - now)) : std::nullopt;
    }
    /// Whether it is time; resets the clock.
    bool take(double now) {
        const bool due = due_ && now >= *due_;
        if (due) due_.reset();
        return due;
    }

private:
    std::optional<double> due_;
};

/// Writes the newest state on its own thread; the destructor writes what is pending.
class Saver {
public:
    struct Snapshot {
        Json settings, workspace;
        bool operator==(const Snapshot&) const = default;
    };

    explicit Saver(std::function<Status(const Snapshot&)> write);
    ~Saver();

    void put(Snapshot snapshot);
    /// Whether something is being written or pending.
    bool busy() const;
    /// Result of the last write.
    Status last() const;
    /// Writes what is pending and ends; returns the result.
    Status finish();

private:
    void work();

    std::function<Status(const Snapshot&)> write_;
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::optional<Snapshot> waiting_;
    Status last_ = success();
    bool closed_ = false, writing_ = false;
    std::thread thread_;  // last: starts when the rest is constructed
};

}  // namespace headlight
