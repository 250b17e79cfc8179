// Builds the rules of attention of a pass: the model's own, under a mask and the user's changes.
#pragma once

#include <span>
#include <vector>

#include "model/forward.h"

namespace headlight {

/// Returns the rules of each layer of each stack for a pass over these sequences. Blocks under the same rule
/// share it; heads with the same mask share that. Fails if the model lacks what a change names
/// (check_changes), and if `cancel` was set, which it reads between rows of masks.
Result<std::vector<std::vector<LayerRules>>> attention_rules(const Model& model,
                                                             std::span<const Sequence> inputs,
                                                             const Intervention& intervention,
                                                             const CancelFlag* cancel = nullptr);

}  // namespace headlight
