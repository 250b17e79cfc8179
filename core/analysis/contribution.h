// What the rows behind one attention block were made of: shares of its keys and of the stream it is added to.
#pragma once

#include <functional>

#include "analysis/flow.h"

namespace headlight {

/// Each row sums to 1 over keys and what stays.
struct RowShares {
    Matrix keys;   // [rows, keys]; of self-attention the row's own stream is in its own key
    Vector stays;  // [rows], of their own stream where that is no key
};
/// Of the queries from `first` on; on any thread.
using SharesOf = std::function<RowShares(int first, int rows)>;
/// Prepares a block before its rows are asked for.
using BlockShares = std::function<SharesOf(int block)>;

/// ‖Σ_h α v W_O‖ of each key against the residual, over the included heads (Kobayashi et al. 2020, 2021). A
/// norm that follows counts with its weights. A block is prepared on all threads of the pool, in memory that
/// grows with n · heads²; what is begun when the pool's flag is set ends soon, without meaning.
BlockShares contribution_shares(const Trace& trace, const IncludedHeads& included, ThreadPool& pool);
/// ½ (mean pattern) + ½ identity (Abnar and Zuidema 2020).
BlockShares rollout_shares(const Trace& trace, const IncludedHeads& included);

/// [rows of a stack, tokens of all stacks]: what each row that leaves a layer was made of, MLPs passing rows
/// straight on; every row sums to 1. Memory grows with n².
Result<Matrix> shares_through(const Trace& trace, int stack, int layer, const BlockShares& of_block,
                              ThreadPool& pool, const CancelFlag* cancel = nullptr);

}  // namespace headlight
