// Detects quantized weights in a Hugging Face folder. They are refused: their bytes are codes and scales.
#pragma once

#include <filesystem>
#include <string>

#include "io/json.h"

namespace headlight {

/// Returns the quantization that a config.json declares, "gptq, 4 bits"; empty: none.
Result<std::string> quantization_of(const Json& root, const std::string& name);

/// Returns the quantization that files of older tools beside it declare.
Result<std::string> quantization_beside(const std::filesystem::path& folder);

/// Explains that such weights cannot be read.
Error quantized_weights(const std::string& folder, const std::string& method);

}  // namespace headlight
