// Downloads a model from the Hugging Face hub in the background.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "hub/fetch.h"
#include "session/field_visitors.h"

namespace headlight {

/// A download on its own thread.
class Fetching {
public:
    /// Starts; calls `done` on that thread at its end, also if cancelled.
    Fetching(FetchRequest request, std::function<void()> done);
    /// Cancels and waits until the thread has stopped; what has arrived is kept.
    ~Fetching();

    void cancel() { cancel_ = true; }
    bool ended() const { return ended_; }
    const FetchRequest& request() const { return request_; }
    const FetchProgress& progress() const { return progress_; }
    /// The result. Only when ended.
    const Result<Fetched>& result() const { return result_; }

private:
    FetchRequest request_;
    FetchProgress progress_;
    CancelFlag cancel_{false};
    std::atomic<bool> ended_{false};
    Result<Fetched> result_ = cancelled();
    std::thread thread_;
};

/// State of the session: what to download, and the messages about it.
struct FetchState {
    std::string typed;                    // in the field of the models sheet
    std::optional<FetchRequest> request;  // until it begins
    bool cancel = false;                  // until it is handled
    bool to_compare = false;              // the model becomes B
    std::shared_ptr<const Fetching> going;
    std::string error;    // message of the last failure
    std::string fetched;  // path of a downloaded model, until it is opened or dismissed
    std::string name;     // its ID as typed
    void visit(FieldVisitor& v);
};

}  // namespace headlight
