// What is measured beside the worker: a thread, a way to end it, and what it has found by now.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/check.h"
#include "base/threads.h"

namespace headlight {

/// Found: plain data that is copied to whoever asks.
template <class Found>
class Measuring {
public:
    /// Puts what is known into found().
    using Tell = std::function<void(Found)>;
    /// On the thread, with a pool that obeys the flag.
    using Measure = std::function<Status(ThreadPool&, const CancelFlag*, const Tell&)>;

    /// Begins with what is known; `measure` uses what the owner holds, so the owner declares this behind it.
    /// `seen(ended)` is called on the thread whenever more is known, and at its end, unless it was stopped.
    /// Where it fails, found() becomes refused(sentence).
    Measuring(Found known, Measure measure, std::function<Found(std::string)> refused,
              std::function<void(bool)> seen)
        : found_(std::move(known)) {
        thread_ = std::thread(
            [this, measure = std::move(measure), refused = std::move(refused), seen = std::move(seen)] {
                const auto tell = [&](Found now) {
                    put(std::move(now));
                    seen(false);
                };
                const Status done = guarded([&] {
                    ThreadPool pool(1);  // the worker keeps the rest
                    const CancelScope scope(pool, &cancel_);
                    return measure(pool, &cancel_, tell);
                });
                if (!done && done.error().cancelled) return;
                if (!done)
                    static_cast<void>(guarded([&] {
                        put(refused(done.error().message));
                        return success();
                    }));
                ended_ = true;
                seen(true);
            });
    }
    ~Measuring() { stop(); }
    Measuring(const Measuring&) = delete;
    Measuring& operator=(const Measuring&) = delete;

    /// Cancels it and waits until it has stopped; what was found stays.
    void stop() {
        cancel_ = true;
        if (thread_.joinable()) thread_.join();
    }
    bool stopped() const { return cancel_; }
    bool ended() const { return ended_; }
    Found found() const {
        std::lock_guard lock(mutex_);
        return found_;
    }

private:
    void put(Found found) {
        std::lock_guard lock(mutex_);
        found_ = std::move(found);
    }

    mutable std::mutex mutex_;  // of found_
    Found found_;
    std::atomic<bool> ended_{false};
    CancelFlag cancel_{false};
    std::thread thread_;
};

}  // namespace headlight
