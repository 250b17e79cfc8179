// A background measurement: its own thread, cancellation, and results so far.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/check.h"
#include "base/threads.h"

namespace headlight {

/// Work is a value that describes the measurement:
///     Found      plain data, copied to readers; `refusal` or refuse() takes why it cannot be measured
///     same()     whether another Work measures the same
///     measure()  measures on the job's thread, with a pool that obeys the flag, and publishes results
template <class Work>
class Job {
public:
    using Found = typename Work::Found;

    /// Starts with known results. `seen(ended)`: called on the job's thread for more, and at its end.
    Job(Work work, Found known, std::function<void(bool)> seen)
        : work_(std::move(work)), found_(std::move(known)) {
        thread_ = std::thread([this, seen = std::move(seen)] { run(seen); });
    }
    ~Job() { stop(); }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    /// Cancels and waits for the thread; results stay.
    void stop() {
        cancel_ = true;
        if (thread_.joinable()) thread_.join();
    }
    bool is_of(const Work& other) const { return work_.same(other); }
    bool ended() const { return ended_; }
    bool stopped() const { return cancel_ && !ended_; }
    bool goes_on() const { return !cancel_ && !ended_; }
    Found found() const {
        std::lock_guard lock(mutex_);
        return found_;
    }
    /// With state to resume from; owned by the thread until it has stopped.
    const Work& work() const { return work_; }

private:
    void run(const std::function<void(bool)>& seen) {
        const auto publish = [&](Found now) {
            put(std::move(now));
            seen(false);
        };
        const Status done = guarded([&] {
            ThreadPool pool(1);  // the worker keeps the other cores
            const CancelScope scope(pool, &cancel_);
            return work_.measure(pool, &cancel_, publish);
        });
        if (!done && done.error().cancelled) return;
        if (!done)
            static_cast<void>(guarded([&] {
                Found now = found();
                refuse(now, done.error().message);
                put(std::move(now));
                return success();
            }));
        ended_ = true;
        seen(true);
    }
    static void refuse(Found& found, const std::string& why) {
        if constexpr (requires { found.refuse(why); })
            found.refuse(why);
        else
            found.refusal = why;
    }
    void put(Found found) {
        std::lock_guard lock(mutex_);
        found_ = std::move(found);
    }

    Work work_;
    mutable std::mutex mutex_;  // guards found_
    Found found_;
    std::atomic<bool> ended_{false};
    CancelFlag cancel_{false};
    std::thread thread_;  // last: ends before what it reads
};

}  // namespace headlight
