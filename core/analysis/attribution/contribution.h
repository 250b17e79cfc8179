// Attributes rows after one attention block to keys, by the lengths of what its heads move.
#pragma once

#include <string>

#include "analysis/attribution/paths.h"

namespace headlight {

/// Returns why contributions are not computed for a trace, in a sentence without its end; "": they are.
std::string missing_contributions(const Trace& trace);

/// ‖Σ_h α v W_O‖ of each key against the residual, over the included heads (Kobayashi et al. 2020, 2021).
/// Includes the weights of a following norm. Prepares a block on all threads of the pool, in memory that
/// grows with n · heads²; ends early, with meaningless results, once the pool's flag is set.
BlockShares contribution_shares(const Trace& trace, const IncludedHeads& included, ThreadPool& pool);

}  // namespace headlight
