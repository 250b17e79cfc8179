// Describes how a model's weights are stored, for `headlight info`.
#pragma once

#include <string>

#include "io/json.h"
#include "model/model.h"

namespace headlight {

/// Returns two lines: the formats of the tensors, and where they are while the model runs.
std::string weights_text(const Model& model);

/// Returns the formats of the tensors, and the quantization that the configuration states.
nlohmann::ordered_json stored_json(const Model& model);

}  // namespace headlight
