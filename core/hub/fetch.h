// A model from the Hugging Face hub into its cache, as huggingface_hub lays it out: blobs by their hash,
// snapshots of links to them, refs. Python finds it there, and so does --model.
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
    std::string gguf;  // a part of the name of the GGUF file that is wanted
};

/// How far it is, for other threads to read.
class FetchProgress {
public:
    std::atomic<int64_t> done{0}, total{0};  // bytes of all files; total 0: not known yet
    std::function<void()> changed = [] {};   // called on the fetching thread

    /// What is done now: "asking the hub", "model.safetensors".
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
    std::filesystem::path path;  // what --model takes: the snapshot's folder, or the GGUF file in it
    std::string revision;        // that was wanted, or the one that holds its weights as safetensors
    std::string commit;
    std::vector<HubFile> files;
    int64_t received = 0;  // bytes that came by the network
    std::string note;      // one sentence, where it is another revision than was wanted; else empty
};

/// Fetches what opening the model needs and the cache lacks. What came before a failure, a cancel or the end
/// of the program stays as NAME.incomplete, and the next try goes on behind it. Size and hash of each file
/// are checked before it takes its name. Where main holds the weights as a pickle alone, and the hub's
/// converter offers the same as safetensors in a pull request, it is that revision.
Result<Fetched> fetch_model(const FetchRequest& request, FetchProgress& progress,
                            const CancelFlag* cancel = nullptr);

}  // namespace headlight
