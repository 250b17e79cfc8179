// Checks the tensors of a checkpoint that no pass reads: some are known and harmless, any other is an error.
#pragma once

#include <set>

#include "model/model.h"

namespace headlight {

/// Fails, naming one, if the files hold a tensor that was not read and could change what is shown: a bias,
/// norm or matrix that the configuration does not mention.
Status check_all_read(const WeightStore& store, const ModelConfig& config,
                      const std::set<const StoredTensor*>& read);

}  // namespace headlight
