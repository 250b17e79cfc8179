// What GGUF files call the sizes and tensors that families know by their Hugging Face names.
#pragma once

#include <span>
#include <string>

#include "io/gguf.h"

namespace headlight {

using GgufNames = std::pair<const char*, const char*>;  // Hugging Face's, GGUF's

struct GgufArchitecture {
    const char* name;
    const char* model_type;
    std::span<const GgufNames> keys, tensors, more_tensors;
    bool interleaved;  // q and k are stored for rotating neighbors
};

/// What a file says it is.
Result<const GgufArchitecture*> gguf_architecture(const Gguf& file, const std::string& name);

/// "llama, qwen2, …", for messages and documents.
std::string gguf_architecture_list();

/// Keys behind the architecture's name that say how rotary positions are stretched.
std::span<const GgufNames> gguf_rope_keys();

/// What the file calls a tensor; "" where it has no name for it.
std::string gguf_tensor_name(const GgufArchitecture& row, const std::string& asked);

/// What is wrong with the config that was made of a file, in the file's own names.
Error in_gguf_names(Error error, const GgufArchitecture& row);

}  // namespace headlight
