// The rules of attention in force: the model's own, with a mask and a person's changes laid over them.
#pragma once

#include <span>
#include <vector>

#include "model/forward.h"

namespace headlight {

/// What is in force in a pass over these sequences: for each stack the rules of its layers. Blocks that are
/// under the same rule share it, and heads that are masked alike share their mask. Fails where the model
/// lacks what a change names (check_changes), and when `cancel` was set; it is read between rows of masks.
Result<std::vector<std::vector<LayerRules>>> attention_rules(const Model& model,
                                                             std::span<const Sequence> inputs,
                                                             const Intervention& intervention,
                                                             const CancelFlag* cancel = nullptr);

}  // namespace headlight
