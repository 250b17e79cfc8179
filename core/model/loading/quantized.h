// Whether a Hugging Face folder holds quantized weights, which are not read: their bytes are codes and
// scales.
#pragma once

#include <filesystem>
#include <string>

#include "io/json.h"

namespace headlight {

/// By which method a config.json says that the weights are quantized, "gptq, 4 bits"; empty: it does not.
Result<std::string> quantization_of(const Json& root, const std::string& name);

/// The same of files that older tools leave beside it.
Result<std::string> quantization_beside(const std::filesystem::path& folder);

/// What to say of such weights.
Error quantized_weights(const std::string& folder, const std::string& method);

}  // namespace headlight
