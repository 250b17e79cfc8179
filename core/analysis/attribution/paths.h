// Walks down paths of attention from rows at the top to the embeddings, for rollout, contribution and
// relevance alike. These differ in the shares of a block's keys and of the residual; the user's changes are
// applied here, once for all.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "model/backward/backward.h"
#include "trace/trace.h"

namespace headlight {

/// Says which heads of a stack's self-attention carry attention from layer to layer: all but (block, head).
struct IncludedHeads {
    int stack = 0;
    std::set<std::pair<int, int>> left_out;
    bool operator==(const IncludedHeads&) const = default;
};

/// Lists the self-attention blocks of a stack, the first layer first.
std::vector<int> self_blocks(const ModelConfig& config, int stack);
/// Lists the blocks that feed a layer's output, its own included, the last one first, but for mixers beside
/// attention, which paths pass by as they do MLPs.
std::vector<int> blocks_down(const ModelConfig& config, int stack, int layer);

/// [rows]: 1 where a head's pattern determines its part of the block's output, for queries from `first` on; 0
/// where the head is left out, its z or the block's output is replaced (zero, mean, patches), or the block is
/// skipped.
Vector moving_rows(const Trace& trace, const IncludedHeads& included, AttentionHead head, int first,
                   int rows);
/// Returns the rows of a layer's input that the user replaced.
std::vector<int> replaced_rows(const Trace& trace, int stack, int layer);

/// Splits rows after a block by origin: each sums to 1.
struct RowShares {
    Matrix keys;             // [rows, keys]
    Vector residual_weight;  // [rows]: share of the row's own stream
    Vector sinks = {};       // [rows]: the part of it that rollout leaves there for sinks; empty: none
};
/// Computes the shares of queries from `first` on; on any thread.
using SharesOf = std::function<RowShares(int first, int rows)>;
/// Prepares a block before its rows are requested.
using BlockShares = std::function<SharesOf(int block)>;

/// ½ (mean pattern of moving heads) + ½ identity (Abnar and Zuidema 2020); the identity where none moves.
BlockShares rollout_shares(const Trace& trace, const IncludedHeads& included);

/// Tracks how much of each of some rows at the top comes from each token, from the last layer down. MLPs pass
/// rows on unchanged. What reaches a row that the user replaced stays there: no lower layer made it.
class PathWalk {
public:
    /// `starts`: [starts, n] at the output of a stack's layer.
    PathWalk(const Trace& trace, int stack, int layer, const Matrix& starts);

    /// Called after all blocks of a layer: at() is then at its resid_pre.
    std::function<void(int stack, int layer)> passed_layer;

    /// Walks through the blocks, the last first, by shares.
    void through(std::span<const int> blocks, const BlockShares& of_block, ThreadPool& pool);
    /// Go down to the output of a block; to the embeddings.
    void go_to(int block);
    void finish();
    /// Returns [starts, tokens] of a stack that is still moving down.
    const Matrix& moving(int stack) const { return moving_[static_cast<size_t>(stack)]; }
    /// Adds to a block's keys what its queries bring, besides what stays: [starts, keys].
    void bring(int block, const Matrix& brought);
    void scale(float by);

    /// Return [starts, tokens] of a stack; the part of it in rows that the user replaced in higher layers.
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

/// [rows of a stack, tokens of all stacks]: splits each row of a layer's output by origin; every row sums to
/// 1. Memory grows with n².
Result<Matrix> shares_through(const Trace& trace, int stack, int layer, const BlockShares& of_block,
                              ThreadPool& pool, const CancelFlag* cancel = nullptr);

}  // namespace headlight
