// Fetches a server's weights, for questions that no pass answers (docs/engine.md).
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/connection.h"
#include "engine/description.h"
#include "io/temporary_folder.h"
#include "model/engine.h"
#include "trace/trace.h"

namespace headlight {

/// Keeps the model with its weights here, and its last runs. Any thread may ask; what a question that was
/// cancelled has fetched stays for the next.
class FetchedWeights {
public:
    FetchedWeights(std::shared_ptr<Connection> connection, OfferedWeights offered, std::string name)
        : connection_(std::move(connection)),
          offered_(std::move(offered)),
          name_(std::move(name)),
          version_(offered_.version) {}

    const OfferedWeights& offered() const { return offered_; }
    /// Says which weights the newest pass was computed with: others are fetched again.
    void passed_with(int64_t version) { version_ = version; }
    int64_t passed_version() const { return version_; }
    /// Says how far a download is, or "".
    std::string fetching() const;
    Result<std::shared_ptr<const Model>> model(const CancelFlag* cancel);
    Result<std::shared_ptr<const Trace>> run(const Trace& trace, const Engine::RunHere& run,
                                             const CancelFlag* cancel);

private:
    struct File {
        std::string name;
        int64_t bytes = 0, here = 0;
    };
    struct Download {
        TemporaryFolder folder;
        int64_t pass = 0;  // the version of the newest pass then
        std::vector<File> files;
    };
    struct Run {
        ForwardRequest request;  // as asked for: patches may wait for their rows
        std::shared_ptr<const Trace> trace;
    };
    using Lock = std::unique_lock<std::timed_mutex>;
    Result<Lock> locked(const CancelFlag* cancel);
    Result<std::shared_ptr<const Model>> open(const CancelFlag* cancel);
    Status begin(const CancelFlag* cancel);
    Status download(const CancelFlag* cancel);
    Status fetch(File& file, const CancelFlag* cancel);

    const std::shared_ptr<Connection> connection_;
    const OfferedWeights offered_;
    const std::string name_;  // of the model, for users
    std::atomic<int64_t> version_;
    std::atomic<int64_t> coming_ = 0, come_ = 0;  // bytes of a download, and those that are here
    std::timed_mutex mutex_;                      // guards what follows
    std::optional<Download> download_;
    std::shared_ptr<const Model> model_;
    std::string failure_;    // why `model_` cannot be opened, or ""
    int64_t opened_ = 0;     // the version of the newest pass when `model_` was fetched
    std::vector<Run> runs_;  // of `model_`, the newest first
};

}  // namespace headlight
