// Checks that a model has what changes name.
#pragma once

#include "model/forward.h"

namespace headlight {

/// Fails if a change names a stack, layer, head or position that the model lacks, or has rows of another
/// width than those that they replace. Guards all indexing by layers and heads, whether changes come from
/// options, files or another model. Accepts positions beyond the text, which may grow.
Status check_changes(const Model& model, const Intervention& intervention);

}  // namespace headlight
