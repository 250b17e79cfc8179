// Reads what GGUF files say of the routers of mixtures of experts.
#pragma once

#include "io/gguf.h"
#include "model/loading/config.h"

namespace headlight {

/// Sets how weights of experts are made as the file says it, and refuses what the family does not compute.
/// prefix: of the architecture's keys, "qwen3moe.".
Status complete_experts(const Gguf& file, const std::string& prefix, const std::string& name, ModelConfig& c);

/// Counts the layers that follow the model's own and predict later tokens.
Result<int64_t> further_layers(const Gguf& file, const std::string& prefix, const std::string& name);

}  // namespace headlight
