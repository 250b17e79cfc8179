// The one place where the window and its worker meet.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "base/threads.h"

namespace headlight {

/// How much of what is being worked on a new request makes useless.
enum class Supersedes { nothing, questions, everything };

/// A slot in each direction. A newer request replaces one that was not taken yet; a newer answer replaces one
/// that was not read yet. put/poll belong to the window's thread, take/answer to the worker's; neither waits
/// while the other computes or draws.
template <class Request, class Answer>
class Mailbox {
public:
    /// Leaves a request, and cancels what it supersedes of the one being worked on.
    void put(Request request, Supersedes supersedes) {
        {
            std::lock_guard lock(mutex_);
            request_ = last_ = std::make_shared<const Request>(std::move(request));
            if (supersedes == Supersedes::everything) cancel_.store(true, std::memory_order_relaxed);
            if (supersedes != Supersedes::nothing) cancel_questions_.store(true, std::memory_order_relaxed);
        }
        wake_.notify_one();
    }

    /// Hands the last request out once more, where no newer one waits: something that it waited for has come.
    void repeat() {
        {
            std::lock_guard lock(mutex_);
            if (!request_) request_ = last_;
        }
        wake_.notify_one();
    }

    /// Waits for a request; null when the mailbox was closed.
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

    /// `last`: nothing more comes of this request. Who polls it must not find the mailbox busy: nobody would
    /// wake that thread once the worker has come round to take().
    void answer(std::shared_ptr<const Answer> answer, bool last) {
        std::lock_guard lock(mutex_);
        answer_ = std::move(answer);
        if (last) busy_ = false;
    }

    /// The newest answer that was not read yet, or null.
    std::shared_ptr<const Answer> poll() {
        std::lock_guard lock(mutex_);
        return std::exchange(answer_, nullptr);
    }

    /// Whether a request waits or is being worked on.
    bool busy() const {
        std::lock_guard lock(mutex_);
        return busy_ || request_ != nullptr;
    }

    /// Ends take() and cancels what is being worked on.
    void close() {
        {
            std::lock_guard lock(mutex_);
            closed_ = true;
            cancel_.store(true, std::memory_order_relaxed);
            cancel_questions_.store(true, std::memory_order_relaxed);
        }
        wake_.notify_one();
    }

    /// Set where nothing of what is being worked on is wanted any more.
    const CancelFlag& cancel() const { return cancel_; }
    /// Set also where other questions are asked of the same pass.
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
