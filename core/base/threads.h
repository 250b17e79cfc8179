// Distributes tiles of work to a small pool of threads.
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

/// Set when a result is no longer wanted.
using CancelFlag = std::atomic<bool>;
inline bool stopped(const CancelFlag* cancel) { return cancel && cancel->load(std::memory_order_relaxed); }

/// Runs the tiles of one job on the calling thread and `threads - 1` helpers. Idle helpers take the next
/// tile, so that a busy core costs only its share; they spin for some microseconds after a job, then sleep.
/// One job at a time, from one thread at a time.
class ThreadPool {
public:
    /// Continues with fewer threads if the system grants no more.
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const { return isize(helpers_) + 1; }

    /// Calls tile(0) … tile(count - 1), each once, in no order; returns when all are done. Rethrows the first
    /// exception of a tile after the running ones have ended; starts no tile after it. Likewise throws
    /// Failure{cancelled()} once the flag of a CancelScope is set.
    void run(int count, const std::function<void(int)>& tile);

    /// Returns whether the flag of the current scope is set: long tiles read it and return early.
    bool stopped() const { return headlight::stopped(cancel_); }
    const CancelFlag* cancel_flag() const { return cancel_; }
    /// Throws Failure{cancelled()} if it is set: for use between steps of work that is not in tiles.
    void stop_point() const;

private:
    friend class CancelScope;
    void help();
    bool take_tiles(uint32_t job);
    void do_tile(const std::function<void(int)>& tile, int i);

    const CancelFlag* cancel_ = nullptr;  // set by the calling thread, between jobs

    std::vector<std::thread> helpers_;
    std::mutex mutex_;
    std::condition_variable wake_;
    const std::function<void(int)>* tile_ = nullptr;
    int count_ = 0;
    std::exception_ptr failure_;  // first exception of this job
    std::atomic<bool> failed_{false};
    std::atomic<uint64_t> next_{0};   // job number in the high half, next tile in the low half
    std::atomic<int> unfinished_{0};  // tiles of this job not yet done
    std::atomic<uint32_t> job_{0};
    std::atomic<bool> stop_{false};
};

/// While it lives, a pool's work ends soon after `cancel` is set, even within a job; null: keeps the flag.
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

/// Returns the default number of threads: the cores that this process may run on, at most 16.
int default_thread_count();

}  // namespace headlight
