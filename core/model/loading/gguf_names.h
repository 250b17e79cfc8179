// Maps Hugging Face names of sizes and tensors to those in GGUF files.
#pragma once

#include <span>
#include <string>

#include "io/gguf.h"

namespace headlight {

using GgufNames = std::pair<const char*, const char*>;  // Hugging Face name, GGUF name

struct GgufArchitecture {
    const char* name;
    const char* model_type;
    std::span<const GgufNames> keys, tensors, more_tensors;
    bool interleaved;  // q and k are stored for interleaved rotation
};

Result<const GgufArchitecture*> gguf_architecture(const Gguf& file, const std::string& name);

/// Returns "llama, qwen2, …", for messages and documents.
std::string gguf_architecture_list();

/// Returns the keys, after the architecture's name, that describe RoPE scaling.
std::span<const GgufNames> gguf_rope_keys();

/// Returns the file's name of a tensor; "" if it has none.
std::string gguf_tensor_name(const GgufArchitecture& row, const std::string& asked);

/// Rewords an error of the converted config in the file's own names.
Error in_gguf_names(Error error, const GgufArchitecture& row);

}  // namespace headlight
