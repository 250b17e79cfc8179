// Scaled dot-product attention (Vaswani et al. 2017), one head and a block of queries at a time.
#pragma once

#include "base/matrix.h"
#include "base/threads.h"
#include "model/mask.h"

namespace headlight {

/// scores[rows, keys] = scale · q kᵀ, before the mask, for `rows` queries q[rows, d_head] and keys k[keys, d_head].
void attention_scores(ConstMatrixRef q, ConstMatrixRef k, float scale, MatrixRef scores);

/// Turns scores[rows, keys] of the queries from `first` on into rows of the pattern: softmax over the allowed keys,
/// exactly 0 elsewhere. A query that may see nothing attends to all keys alike, as in transformers (which adds the
/// lowest float to every score of such a row).
void masked_softmax(const MaskPlan& mask, int first, MatrixRef scores);

/// pattern[rows, n] of one head for the queries from `first` on; q, k: [n, d_head] of that head. Each row sums to 1.
void head_pattern(const MaskPlan& mask, ConstMatrixRef q, ConstMatrixRef k, float scale, int first, MatrixRef pattern);

/// z[n, heads · d_head] = pattern · v for every head and the queries from `first` on; q, k, v: [n, heads · d_head].
/// Tiles of one head and a block of queries, so that memory grows with n and not with n².
void attend(ThreadPool& pool, const MaskPlan& mask, ConstMatrixRef q, ConstMatrixRef k, ConstMatrixRef v, int heads, float scale, int first, MatrixRef z);

}  // namespace headlight
