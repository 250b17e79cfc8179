// Gathers the files of a model for a page that computes, and runs it as the page will.
#pragma once

#include <filesystem>

#include "figure/page/page.h"
#include "io/temporary_folder.h"

namespace headlight {

/// Holds a model as a page computes with it, and its run of the text that the page opens with.
struct LiveRun {
    LiveModel model;
    TemporaryFolder folder;  // with the model's weights as the page has them; outlives the trace
    std::shared_ptr<const Trace> trace;
};

/// Reads the files that the folder of a model needs, and runs a text, of a translator with what it writes.
/// Weights of more than 4 MB are stored in eight bits (io/eight_bits.h). Fails if the folder holds no
/// safetensors or too many, or its model reads no text.
Result<LiveRun> run_live(const std::filesystem::path& folder, const std::string& name,
                         const std::string& text, ThreadPool& pool);

}  // namespace headlight
