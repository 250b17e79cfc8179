// Passes requests and answers between the window and its worker.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "base/threads.h"

namespace headlight {

/// The part of the work in progress that a new request makes useless.
enum class Supersedes { nothing, questions, everything };

/// One slot in each direction. A newer request replaces one not yet taken; a newer answer replaces one not
/// yet read. put/poll belong to the window's thread, take/answer to the worker's; neither waits while the
/// other computes or draws.
template <class Request, class Answer>
class Mailbox {
public:
    /// Leaves a request, and cancels the superseded part of the work in progress.
    void put(Request request, Supersedes supersedes) {
        {
            std::lock_guard lock(mutex_);
            request_ = last_ = std::make_shared<const Request>(std::move(request));
            if (supersedes == Supersedes::everything) cancel_.store(true, std::memory_order_relaxed);
            if (supersedes != Supersedes::nothing) cancel_questions_.store(true, std::memory_order_relaxed);
        }
        wake_.notify_one();
    }

    /// Hands out the last request again, unless a newer one waits: something it waited for has arrived.
    void repeat() {
        {
            std::lock_guard lock(mutex_);
            if (!request_) request_ = last_;
        }
        wake_.notify_one();
    }

    /// Waits for a request; null when the mailbox is closed.
    std::shared_ptr<const Request> take() {
        std::unique_lock lock(mutex_);
        busy_ = false;
        wake_.wait(lock, [&] { return closed_ || request_; });
        if (closed_) return nullptr;
        busy_ = true;
        cancel_.store(false, std::memory_order_relaxed);
        cancel_questions_.store(false, std::memory_order_relaxed);
        return std::exchange(request_, nullptr);
    }

    /// `last`: the answer is complete. After polling it the mailbox must not look busy: nothing would wake
    /// the window when the worker returns to take().
    void answer(std::shared_ptr<const Answer> answer, bool last) {
        std::lock_guard lock(mutex_);
        answer_ = std::move(answer);
        if (last) busy_ = false;
    }

    /// The newest unread answer, or null.
    std::shared_ptr<const Answer> poll() {
        std::lock_guard lock(mutex_);
        return std::exchange(answer_, nullptr);
    }

    /// Whether a request waits or is in progress.
    bool busy() const {
        std::lock_guard lock(mutex_);
        return busy_ || request_ != nullptr;
    }

    /// Ends take() and cancels the work in progress.
    void close() {
        {
            std::lock_guard lock(mutex_);
            closed_ = true;
            cancel_.store(true, std::memory_order_relaxed);
            cancel_questions_.store(true, std::memory_order_relaxed);
        }
        wake_.notify_one();
    }

    /// Set if none of the work in progress is needed.
    const CancelFlag& cancel() const { return cancel_; }
    /// Set also if other questions are asked about the same pass.
    const CancelFlag& cancel_questions() const { return cancel_questions_; }

private:
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::shared_ptr<const Request> request_, last_;  // shared: repeat() copies nothing and cannot fail
    std::shared_ptr<const Answer> answer_;
    CancelFlag cancel_{false}, cancel_questions_{false};
    bool closed_ = false, busy_ = false;
};

}  // namespace headlight
