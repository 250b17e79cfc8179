// A small pool that hands out tiles of work.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace headlight {

/// Set by whoever no longer wants a result; read between layers.
using CancelFlag = std::atomic<bool>;
inline bool stopped(const CancelFlag* cancel) { return cancel && cancel->load(std::memory_order_relaxed); }

/// Runs the tiles of one job on the calling thread and `threads - 1` helpers.
/// Helpers take the next tile when they are free, so a core that is busy elsewhere costs its share and no more;
/// they look for work for some microseconds after a job, then sleep. One job at a time, from one thread at a time.
class ThreadPool {
public:
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const { return static_cast<int>(helpers_.size()) + 1; }

    /// Calls tile(0) … tile(count - 1), each once, in no order; returns when all are done.
    void run(int count, const std::function<void(int)>& tile);

private:
    void help();
    bool take_tiles(uint32_t job);

    std::vector<std::thread> helpers_;
    std::mutex mutex_;
    std::condition_variable wake_;
    const std::function<void(int)>* tile_ = nullptr;
    int count_ = 0;
    std::atomic<uint64_t> next_{0};      // job number in the high half, next tile in the low half
    std::atomic<int> unfinished_{0};     // tiles of this job not yet done
    std::atomic<uint32_t> job_{0};
    std::atomic<bool> stop_{false};
};

/// Threads to use when the person names no number: the cores this process may run on, at most 16.
int default_thread_count();

}  // namespace headlight
