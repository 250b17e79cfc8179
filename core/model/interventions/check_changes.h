// Whether a model has what changes name.
#pragma once

#include "model/forward.h"

namespace headlight {

/// Fails where a change names a stack, a layer, a head or positions that the model lacks, or brings rows of
/// another width than those that it replaces. Wherever changes come from (options, files, another model),
/// this is the gate before layers and heads are indexed by them. Positions may lie behind the text, which may
/// become longer.
Status check_changes(const Model& model, const Intervention& intervention);

}  // namespace headlight
