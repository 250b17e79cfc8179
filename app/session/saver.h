// Saves what changed, a little later and beside the frames.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "io/json.h"

namespace headlight {

/// When to look whether something is to be saved: so long after the first thing that may have changed that
/// nothing older than a second is ever lost.
class SaveClock {
public:
    static constexpr double kDelay = 0.5;  // seconds; the rest of the second is for writing

    void touch(double now) {
        if (!due_) due_ = now + kDelay;
    }
    /// Seconds until then; none while nothing waits.
    std::optional<double> wait(double now) const {
        return due_ ? std::optional(std::max(0.0, *due_ - now)) : std::nullopt;
    }
    /// Whether it is time; the clock stands again then.
    bool take(double now) {
        const bool due = due_ && now >= *due_;
        if (due) due_.reset();
        return due;
    }

private:
    std::optional<double> due_;
};

/// Writes the newest of what it is given, on a thread of its own; what is not yet written when it ends is
/// written then.
class Saver {
public:
    struct Snapshot {
        Json settings, workspace;
        bool operator==(const Snapshot&) const = default;
    };

    explicit Saver(std::function<Status(const Snapshot&)> write);
    ~Saver();

    void put(Snapshot snapshot);
    /// Whether something is being written or waits.
    bool busy() const;
    /// How the last writing went.
    Status last() const;
    /// Writes what still waits and ends; how that went.
    Status finish();

private:
    void work();

    std::function<Status(const Snapshot&)> write_;
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::optional<Snapshot> waiting_;
    Status last_ = success();
    bool closed_ = false, writing_ = false;
    std::thread thread_;  // last: starts when the rest stands
};

}  // namespace headlight
