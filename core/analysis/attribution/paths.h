// Paths of attention from rows at the top down to the embeddings: the one walk of rollout, contribution and
// relevance. They differ in what a block's keys get of each row and in what stays; what a person changed is
// asked here, once for all.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "model/backward/backward.h"
#include "trace/trace.h"

namespace headlight {

/// Which heads carry attention from layer to layer: all of a stack's self-attention but those left out,
/// (block, head).
struct IncludedHeads {
    int stack = 0;
    std::set<std::pair<int, int>> left_out;
    bool operator==(const IncludedHeads&) const = default;
};

/// Self-attention blocks of a stack, the first layer first.
std::vector<int> self_blocks(const ModelConfig& config, int stack);
/// All blocks that feed a layer's output, itself included, the last one first.
std::vector<int> blocks_down(const ModelConfig& config, int stack, int layer);

/// [rows], 1 where a head adds to the block's output what its pattern says, for queries from `first` on; 0
/// where the head is left out, its z or the block's output is replaced (zero, mean, patches), or the block is
/// skipped.
Vector moving_rows(const Trace& trace, const IncludedHeads& included, AttentionHead head, int first,
                   int rows);
/// Rows of what enters a layer that a person put in place of the layer below's.
std::vector<int> replaced_rows(const Trace& trace, int stack, int layer);

/// What rows behind a block were made of: each sums to 1.
struct RowShares {
    Matrix keys;             // [rows, keys]
    Vector residual_weight;  // [rows], of the row's own stream
};
/// Of the queries from `first` on; on any thread.
using SharesOf = std::function<RowShares(int first, int rows)>;
/// Prepares a block before its rows are asked for.
using BlockShares = std::function<SharesOf(int block)>;

/// ½ (mean pattern of the heads that move) + ½ identity (Abnar and Zuidema 2020); a row that no head moves
/// stays whole.
BlockShares rollout_shares(const Trace& trace, const IncludedHeads& included);

/// How much of each of some rows at the top stands at each token, from the last layer down. MLPs pass rows
/// straight on. What reaches a row that a person put in place goes straight down from there: nothing below
/// made it.
class PathWalk {
public:
    /// `starts`: [starts, n] at the output of a stack's layer.
    PathWalk(const Trace& trace, int stack, int layer, const Matrix& starts);

    /// Called when all blocks of a layer are passed: at() is then at its resid_pre.
    std::function<void(int stack, int layer)> passed_layer;

    /// Through the blocks, the last first, by shares.
    void through(std::span<const int> blocks, const BlockShares& of_block, ThreadPool& pool);
    /// Goes down to the output of a block; to the embeddings.
    void go_to(int block);
    void finish();
    /// [starts, tokens] of a stack that is still on its way.
    const Matrix& moving(int stack) const { return moving_[static_cast<size_t>(stack)]; }
    /// Adds to a block's keys what its queries bring beside all that stays: [starts, keys].
    void bring(int block, const Matrix& brought);
    void scale(float by);

    /// [starts, tokens] of a stack; what of it stands in rows that a person put in place further up.
    Matrix at(int stack) const;
    const Matrix& replaced(int stack) const { return replaced_[static_cast<size_t>(stack)]; }
    /// [starts, tokens of all stacks].
    Matrix all() const;

private:
    void pass_layer();
    void pass(int block, const SharesOf& shares_of, ThreadPool& pool);

    const Trace& trace_;
    int stack_, layer_;
    std::vector<Matrix> moving_, replaced_;  // of each stack
};

/// [rows of a stack, tokens of all stacks]: what each row that leaves a layer was made of; every row sums to
/// 1. Memory grows with n².
Result<Matrix> shares_through(const Trace& trace, int stack, int layer, const BlockShares& of_block,
                              ThreadPool& pool, const CancelFlag* cancel = nullptr);

}  // namespace headlight
