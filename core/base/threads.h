// A small pool that hands out tiles of work.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/cast.h"

namespace headlight {

/// Set by whoever no longer wants a result.
using CancelFlag = std::atomic<bool>;
inline bool stopped(const CancelFlag* cancel) { return cancel && cancel->load(std::memory_order_relaxed); }

/// Runs the tiles of one job on the calling thread and `threads - 1` helpers.
/// Helpers take the next tile when they are free, so a core that is busy elsewhere costs its share and no
/// more; they look for work for some microseconds after a job, then sleep. One job at a time, from one thread
/// at a time.
class ThreadPool {
public:
    /// Where the system gives fewer threads, it goes on with these.
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const { return isize(helpers_) + 1; }

    /// Calls tile(0) … tile(count - 1), each once, in no order; returns when all are done.
    /// The first exception of a tile is thrown here, after the others have ended; no tile begins behind it.
    /// Where the flag of a CancelScope is set, no tile begins either, and Failure{cancelled()} is thrown.
    void run(int count, const std::function<void(int)>& tile);

    /// Whether the flag of the scope in force is set: read by tiles that take long, which may then return at
    /// once.
    bool stopped() const { return headlight::stopped(cancel_); }
    const CancelFlag* cancel_flag() const { return cancel_; }
    /// Throws Failure{cancelled()} where it is: between the steps of work that is not in tiles.
    void stop_point() const;

private:
    friend class CancelScope;
    void help();
    bool take_tiles(uint32_t job);
    void do_tile(const std::function<void(int)>& tile, int i);

    const CancelFlag* cancel_ = nullptr;  // the calling thread's, between jobs

    std::vector<std::thread> helpers_;
    std::mutex mutex_;
    std::condition_variable wake_;
    const std::function<void(int)>* tile_ = nullptr;
    int count_ = 0;
    std::exception_ptr failure_;  // the first of this job
    std::atomic<bool> failed_{false};
    std::atomic<uint64_t> next_{0};   // job number in the high half, next tile in the low half
    std::atomic<int> unfinished_{0};  // tiles of this job not yet done
    std::atomic<uint32_t> job_{0};
    std::atomic<bool> stop_{false};
};

/// While it lives, a pool's work ends soon after `cancel` is set, also in the middle of a job; null: the flag
/// that holds stays.
class CancelScope {
public:
    CancelScope(ThreadPool& pool, const CancelFlag* cancel) : pool_(pool), before_(pool.cancel_) {
        if (cancel) pool.cancel_ = cancel;
    }
    ~CancelScope() { pool_.cancel_ = before_; }
    CancelScope(const CancelScope&) = delete;
    CancelScope& operator=(const CancelScope&) = delete;

private:
    ThreadPool& pool_;
    const CancelFlag* before_;
};

/// Threads to use when the person names no number: the cores this process may run on, at most 16.
int default_thread_count();

}  // namespace headlight
