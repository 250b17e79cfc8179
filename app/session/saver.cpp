#include "session/saver.h"

#include "base/check.h"

namespace headlight {

Saver::Saver(std::function<Status(const Snapshot&)> write)
    : write_(std::move(write)), thread_([this] { work(); }) {}

Saver::~Saver() { [[maybe_unused]] const Status last = finish(); }

Status Saver::finish() {
    {
        std::lock_guard lock(mutex_);
        closed_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
    return last_;
}

void Saver::put(Snapshot snapshot) {
    {
        std::lock_guard lock(mutex_);
        waiting_ = std::move(snapshot);
    }
    wake_.notify_one();
}

bool Saver::busy() const {
    std::lock_guard lock(mutex_);
    return writing_ || waiting_;
}

Status Saver::last() const {
    std::lock_guard lock(mutex_);
    return last_;
}

void Saver::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait(lock, [&] { return closed_ || waiting_; });
        if (!waiting_) return;
        const Snapshot now = std::move(*std::exchange(waiting_, std::nullopt));
        writing_ = true;
        lock.unlock();
        Status written = guarded([&] { return write_(now); });
        lock.lock();
        last_ = std::move(written);
        writing_ = false;
    }
}

}  // namespace headlight
