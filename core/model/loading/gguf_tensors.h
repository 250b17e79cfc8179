// Names the tensors of GGUF files, which are called alike in nearly every architecture.
#pragma once

#include "model/loading/binder.h"

namespace headlight {

/// Returns the names, as llama.cpp's converter gives them; a family's own rows replace those of a slot.
std::span<const TensorRow> gguf_tensors();

}  // namespace headlight
