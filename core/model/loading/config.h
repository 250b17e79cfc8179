// Where a model's configuration is read.
#pragma once

#include <filesystem>
#include <string>

#include "io/json.h"
#include "model/heads.h"

namespace headlight {

/// Reads config.json of a Hugging Face folder, and preprocessor_config.json where the model reads pictures.
Result<ModelConfig> read_config(const std::filesystem::path& folder);

/// The same from text; `name` is what messages call it. For tests and fuzzing.
Result<ModelConfig> parse_config(const Json& root, const std::string& name);

/// How a model's texts begin and end and what they never hold; entries that are missing keep what `rules`
/// has. `root` is a generation_config.json, or the config.json of older folders.
Status parse_generation_config(const Json& root, const std::string& name, GenerationConfig& rules);

/// Mean, deviation and rescaling of pictures from the text of a preprocessor_config.json.
Status parse_preprocessor(const Json& root, const std::string& name, VisionConfig& vision);

}  // namespace headlight
