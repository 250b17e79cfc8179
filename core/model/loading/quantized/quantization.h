// Reads how the weights of a Hugging Face folder are quantized: their bytes are codes, and scales beside
// them.
#pragma once

#include <filesystem>
#include <span>

#include "io/json.h"
#include "model/quantization.h"

namespace headlight {

/// Returns the quantization that a config.json declares. A method that is not read is `unreadable`; a size of
/// one that is read must make sense.
Result<Quantization> quantization_of(const Json& root, const std::string& name);

/// Returns the quantization that files of older tools beside it declare.
Result<Quantization> quantization_beside(const std::filesystem::path& folder);

/// Describes what is read of a way to quantize, for documents.
struct QuantizedForm {
    const char *name, *what;
};
std::span<const QuantizedForm> quantized_forms();

/// Explains that such weights cannot be read.
Error quantized_weights(const std::string& folder, const std::string& method);

}  // namespace headlight
