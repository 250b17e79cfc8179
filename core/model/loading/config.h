// Reads a model's configuration.
#pragma once

#include <filesystem>
#include <string>

#include "io/json.h"
#include "model/heads.h"

namespace headlight {

/// Reads config.json of a Hugging Face folder, and preprocessor_config.json if the model reads images.
Result<ModelConfig> read_config(const std::filesystem::path& folder);

/// Parses its text; messages call it `name`. For tests and fuzzing.
Result<ModelConfig> parse_config(const Json& root, const std::string& name);

/// Reads how a model's texts begin and end and which tokens they never contain; missing entries keep the
/// value in `rules`. `root`: a generation_config.json, or the config.json of older folders.
Status parse_generation_config(const Json& root, const std::string& name, GenerationConfig& rules);

/// Reads mean, deviation and rescaling of images from a preprocessor_config.json.
Status parse_preprocessor(const Json& root, const std::string& name, VisionConfig& vision);

}  // namespace headlight
