// Gathers the files of a model for a page that computes.
#pragma once

#include <filesystem>

#include "figure/page/page.h"

namespace headlight {

/// Reads the files that a model's folder needs. Weights of more than 4 MB are stored in eight bits
/// (io/eight_bits.h). Fails if the page would be too large, or the folder holds no safetensors.
Result<LiveModel> live_model(const std::filesystem::path& folder);

/// Writes the files as a folder that Headlight opens, weights as the page computes with them.
Status write_live_model(const LiveModel& model, const std::filesystem::path& folder);

}  // namespace headlight
