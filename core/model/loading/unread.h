// Tensors of a checkpoint that a pass does not read: which may be there, and that any other is an error.
#pragma once

#include <set>

#include "model/model.h"

namespace headlight {

/// Fails, and names one, where the files hold a tensor that is not among those read and that could change
/// what is shown: a bias, a norm or a matrix that the configuration says nothing of.
Status check_all_read(const WeightStore& store, const ModelConfig& config,
                      const std::set<const StoredTensor*>& read);

}  // namespace headlight
