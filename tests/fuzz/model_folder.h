// Valid tiny models of every family, and edits of them by structure: a few bytes say which field becomes
// what.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "io/json.h"

namespace headlight::fuzz {

inline constexpr const char* kWeights = "model.safetensors";

/// The files of a model. A safetensors header and a GGUF file's metadata and tensor table are documents like
/// config.json.
struct ModelFiles {
    std::string name;                        // "bert"
    std::map<std::string, Json> documents;   // by file name
    std::map<std::string, std::string> raw;  // merges.txt, spiece.model …
    std::string tensors;                     // the bytes behind the header
    bool gguf = false;
    uint32_t picture_width = 24, picture_height = 16;  // that a vision model reads
};

/// One of each family, from tests/reference/models: folders in the order of their names, relatives of these,
/// GGUF files, a Llama in each way to quantize it.
const std::vector<ModelFiles>& valid_models();

/// Edits of six bytes each: target, place (two), kind, and two that choose the value.
void apply_edits(ModelFiles& files, std::span<const uint8_t> edits);

/// Writes the files into an empty folder; returns the path to open.
std::filesystem::path write_model(const ModelFiles& files, const std::filesystem::path& folder);

/// A black picture as a PNG file.
std::filesystem::path write_picture(const ModelFiles& files, const std::filesystem::path& folder);

}  // namespace headlight::fuzz
