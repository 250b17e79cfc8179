// Quantized variants of a valid model: any codes are valid, so only sizes matter.
#pragma once

#include "model_folder.h"

namespace headlight::fuzz {

/// The same Llama with its matrices in each way to quantize a folder that Headlight reads.
std::vector<ModelFiles> quantized_models(const ModelFiles& llama);

}  // namespace headlight::fuzz
