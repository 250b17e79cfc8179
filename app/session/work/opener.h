// Opens models in the background, so that the old one keeps answering.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "model/model.h"
#include "trace/trace.h"

namespace headlight {

/// A model being opened on its own thread.
struct Opening {
    std::string path, name;
    uint64_t attempt = 0;
    std::shared_ptr<const Model> before;  // whose weights serve if only an adapter's strength differs
    CancelFlag cancel{false};
    OpeningProgress progress;
    std::atomic<bool> done{false};
    Result<std::shared_ptr<const Model>> result = cancelled();
    std::shared_ptr<const Trace> trace;  // if the path is a trace file: its content; the model has no weights
    std::thread thread;
    ~Opening() {
        if (thread.joinable()) thread.join();
    }
};

/// At most one opening at a time. All members but `opening` belong to the worker's thread.
class Opener {
public:
    /// `done` is called on the opening's thread at its end.
    explicit Opener(std::function<void()> done) : done_(std::move(done)) {}
    ~Opener() { give_up(); }

    /// Starts to open a model (path or name), unless it is already being opened; `open`: the one before it.
    void want(const std::string& path, uint64_t attempt, const std::shared_ptr<const Model>& open);
    void give_up();
    bool ended() const { return opening_ && opening_->done; }
    /// Waits for the end of the opening and returns it.
    std::shared_ptr<Opening> take();

    /// The opening in progress, or null. Any thread.
    std::shared_ptr<const Opening> opening() const {
        std::lock_guard lock(mutex_);
        return opening_;
    }

private:
    void hold(std::shared_ptr<Opening> opening);

    std::function<void()> done_;
    std::vector<std::shared_ptr<Opening>> abandoned_;  // cancelled, not ended yet
    mutable std::mutex mutex_;
    std::shared_ptr<Opening> opening_;
};

}  // namespace headlight
