// Downloads a model from the Hugging Face hub into its cache, in huggingface_hub's layout: blobs by their
// hash, snapshots of links to them, refs. Python finds it there, and so does --model.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/threads.h"
#include "hub/files.h"
#include "hub/hub.h"

namespace headlight {

struct FetchRequest {
    HubName name;
    std::string gguf;  // part of the name of the wanted GGUF file
};

class FetchProgress {
public:
    std::atomic<int64_t> done{0}, total{0};  // bytes of all files; total 0: not known yet
    std::function<void()> changed = [] {};   // called on the fetching thread

    /// Returns the current step: "asking the hub", "model.safetensors".
    std::string step() const {
        std::lock_guard lock(mutex_);
        return step_;
    }
    void begin(std::string step) {
        {
            std::lock_guard lock(mutex_);
            step_ = std::move(step);
        }
        changed();
    }

private:
    mutable std::mutex mutex_;
    std::string step_;
};

struct Fetched {
    std::filesystem::path path;  // argument of --model: the snapshot's folder, or the GGUF file in it
    std::string revision;        // the requested one, or the one that holds its weights as safetensors
    std::string commit;
    std::vector<HubFile> files;
    int64_t received = 0;  // bytes received over the network
    std::string note;      // one sentence, if the revision is not the requested one; else empty
};

/// Downloads what the model needs and the cache lacks. Partial files survive a failure, a cancel or the end
/// of the program as NAME.incomplete, and the next try resumes them. Verifies size and hash of each file
/// before renaming it. If main holds the weights only as a pickle, and the hub's converter offers the same as
/// safetensors in a pull request, downloads that revision.
Result<Fetched> fetch_model(const FetchRequest& request, FetchProgress& progress,
                            const CancelFlag* cancel = nullptr);

}  // namespace headlight
