// What the rows behind one attention block were made of, by the lengths of what its heads move.
#pragma once

#include "analysis/attribution/paths.h"

namespace headlight {

/// ‖Σ_h α v W_O‖ of each key against the residual, over the included heads (Kobayashi et al. 2020, 2021). A
/// norm that follows counts with its weights. A block is prepared on all threads of the pool, in memory that
/// grows with n · heads²; what is begun when the pool's flag is set ends soon, without meaning.
BlockShares contribution_shares(const Trace& trace, const IncludedHeads& included, ThreadPool& pool);

}  // namespace headlight
