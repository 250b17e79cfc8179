// A model that is fetched from the Hugging Face hub, beside everything else.
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

/// A fetch on a thread of its own.
class Fetching {
public:
    /// Begins; `done` is called on that thread at its end, also where it was cancelled.
    Fetching(FetchRequest request, std::function<void()> done);
    /// Cancels it and waits until it has stopped; what has come is kept.
    ~Fetching();

    void cancel() { cancel_ = true; }
    bool ended() const { return ended_; }
    const FetchRequest& request() const { return request_; }
    const FetchProgress& progress() const { return progress_; }
    /// What came of it. Only when ended.
    const Result<Fetched>& result() const { return result_; }

private:
    FetchRequest request_;
    FetchProgress progress_;
    CancelFlag cancel_{false};
    std::atomic<bool> ended_{false};
    Result<Fetched> result_ = cancelled();
    std::thread thread_;
};

/// What a person wants to fetch, and what is told of it; a state of the session.
struct FetchState {
    std::string typed;                    // in the field of the models' sheet
    std::optional<FetchRequest> request;  // until it begins
    bool cancel = false;                  // until that is heard
    bool to_compare = false;              // the model is B, when it is there
    std::shared_ptr<const Fetching> going;
    std::string said;     // of the last one, where it failed
    std::string fetched;  // the path of a model that has come, until it is opened or not wanted
    std::string name;     // … as it was asked for
    void visit(FieldVisitor& v);
};

}  // namespace headlight
