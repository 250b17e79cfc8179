// Makes what a recurrence reads (model/mixers/mixing.h) from a block's input x: q, k and v through a
// convolution over the last tokens and SiLU, and each token's decay and strength.
#pragma once

#include "model/backward/gradient_rows.h"
#include "model/mixers/latent.h"
#include "model/mixers/mixing.h"
#include "model/pass.h"

namespace headlight {

/// Holds the channels of q, k and v as projected, and where the kernels of each begin.
struct RecurrenceChannels {
    int64_t q = 0, k = 0, v = 0;
    int64_t first_q = 0, first_k = 0, first_v = 0;
    int64_t count() const { return q + k + v; }
    /// Counts those that pass the convolution: all, or the products of q and v (RecurrenceSpec::convolution).
    int64_t convolved() const { return k ? count() : v; }
    static RecurrenceChannels of(const AttentionSpec& spec);
};

/// Returns how many tokens before a row its q, k and v read.
inline int recurrence_reach(const AttentionSpec& spec) {
    return spec.recurrence && !spec.recurrence->is_convolution() ? spec.recurrence->kernel - 1 : 0;
}

/// Return the columns of q and of k of all heads: heads of them, or one that all share.
inline Index query_columns(const AttentionSpec& spec) {
    return (spec.recurrence->is_selective() ? 1 : Index{spec.heads}) * spec.d_head;
}
inline Index key_columns(const AttentionSpec& spec) {
    return spec.recurrence->is_selective() ? Index{spec.d_head} + spec.heads
                                           : Index{spec.heads} * (spec.d_head + kKeyRates);
}

/// q [rows, query_columns], k [rows, key_columns], v [rows, heads · d_value] of the rows of x behind the
/// first `before`, which the convolution reads.
QueryKeyValue recurrence_heads(const AttentionSpec& spec, const AttentionWeights& w, ConstMatrixRef x,
                               Index before, ThreadPool& pool);

/// Holds a gradient by x; a row reaches the tokens before it too.
struct RecurrenceGradients {
    Matrix x;
    GradientRows rows;
};

/// Propagates the gradients by q, whose rows are `queries`, and by k and v, whose rows are `keys`, to x, of
/// all tokens.
RecurrenceGradients recurrence_vjp(const AttentionSpec& spec, const AttentionWeights& w, const Matrix& x,
                                   const Matrix& by_q, const GradientRows& queries, const Matrix& by_k,
                                   const Matrix& by_v, const GradientRows& keys, ThreadPool& pool);

}  // namespace headlight
