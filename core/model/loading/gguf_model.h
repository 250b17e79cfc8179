// Reads GGUF models: the metadata as a config.json, the tensors under their Hugging Face names.
#pragma once

#include "io/gguf_parts.h"
#include "model/loading/config.h"

namespace headlight {

/// Returns the configuration that the metadata describes.
Result<ModelConfig> gguf_config(const Gguf& file, const std::string& name);

/// Returns a store of the tensors, under the names that the family uses in safetensors files.
WeightStore gguf_weights(GgufModel model, const std::string& name);

}  // namespace headlight
