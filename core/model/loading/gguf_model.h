// Reads the metadata of GGUF models as a config.json.
#pragma once

#include "io/gguf_parts.h"
#include "model/loading/config.h"

namespace headlight {

/// Returns the configuration that the metadata describes.
Result<ModelConfig> gguf_config(const Gguf& file, const std::string& name);

}  // namespace headlight
