// Runs the thread pool. Its tile counter carries the job's number: a late helper takes no other job's tile.
#include "base/threads.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/check.h"

namespace headlight {

namespace {
constexpr int kSpins = 2000;  // some tens of microseconds

inline void pause_briefly() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}
}  // namespace

int default_thread_count() { return std::clamp<int>(std::thread::hardware_concurrency(), 1, 16); }

ThreadPool::ThreadPool(int threads) {
    helpers_.reserve(std::max(threads - 1, 0));
    try {
        for (int i = 1; i < threads; ++i) helpers_.emplace_back([this] { help(); });
    } catch (...) {  // no more threads, or no memory for them
    }
}

ThreadPool::~ThreadPool() {
    {
        std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_all();
    for (auto& helper : helpers_) helper.join();
}

void ThreadPool::stop_point() const {
    if (stopped()) throw Failure(cancelled());
}

void ThreadPool::run(int count, const std::function<void(int)>& tile) {
    if (count <= 0) return;
    if (helpers_.empty() || count == 1) {
        for (int i = 0; i < count; ++i) {
            stop_point();
            tile(i);
        }
        return stop_point();  // the last tile may have returned early
    }
    uint32_t job;
    {
        std::lock_guard lock(mutex_);
        tile_ = &tile;
        count_ = count;
        failed_.store(false, std::memory_order_relaxed);
        unfinished_.store(count, std::memory_order_relaxed);
        job = job_.load(std::memory_order_relaxed) + 1;
        next_.store(uint64_t{job} << 32, std::memory_order_release);
        job_.store(job, std::memory_order_release);
    }
    wake_.notify_all();
    take_tiles(job);
    for (int spin = 0; unfinished_.load(std::memory_order_acquire) > 0; ++spin) {
        if (spin < kSpins)
            pause_briefly();
        else
            std::this_thread::yield();
    }
    std::exception_ptr failure;
    {
        std::lock_guard lock(mutex_);
        tile_ = nullptr;
        failure = std::exchange(failure_, nullptr);
    }
    if (failure) std::rethrow_exception(failure);
    stop_point();
}

/// Runs one tile, unless the job has failed; keeps the job's first exception.
void ThreadPool::do_tile(const std::function<void(int)>& tile, int i) {
    if (failed_.load(std::memory_order_relaxed) || stopped()) return;
    try {
        tile(i);
    } catch (...) {
        std::lock_guard lock(mutex_);
        if (!failed_.exchange(true, std::memory_order_relaxed)) failure_ = std::current_exception();
    }
}

bool ThreadPool::take_tiles(uint32_t job) {
    const std::function<void(int)>* tile;
    int count;
    {
        std::lock_guard lock(mutex_);
        if (job_.load(std::memory_order_relaxed) != job || !tile_) return false;
        tile = tile_;
        count = count_;
    }
    for (;;) {
        uint64_t next = next_.load(std::memory_order_relaxed);
        do {
            if ((next >> 32) != job || static_cast<int>(next & 0xffffffffu) >= count) return true;
        } while (!next_.compare_exchange_weak(next, next + 1, std::memory_order_acq_rel));
        do_tile(*tile, static_cast<int>(next & 0xffffffffu));
        unfinished_.fetch_sub(1, std::memory_order_acq_rel);
    }
}

void ThreadPool::help() {
    uint32_t seen = 0;
    for (;;) {
        for (int spin = 0; spin < kSpins && job_.load(std::memory_order_acquire) == seen && !stop_; ++spin)
            pause_briefly();
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [&] { return stop_ || job_.load(std::memory_order_relaxed) != seen; });
            if (stop_) return;
            seen = job_.load(std::memory_order_relaxed);
        }
        take_tiles(seen);
    }
}

}  // namespace headlight
