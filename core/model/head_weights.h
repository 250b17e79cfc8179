// One head's part of its block's weights: W_Q, W_K, W_V and W_O. Analysis asks here and slices no columns
// itself.
#pragma once

#include "base/matrix.h"
#include "base/threads.h"
#include "model/mixers/latent.h"

namespace headlight {

const AttentionWeights& weights_of(const Model& model, int block);

/// Decodes inputs [first, first + count) of a matrix: [count, w.out].
Matrix input_rows(const Linear& w, Index first, Index count);

/// Points to the weights that one head reads and writes with. Heads that share a key/value head have the same
/// W_K and W_V. The model must have weights, and outlive it.
class HeadWeights {
public:
    HeadWeights(const Model& model, AttentionHead head);

    /// [d_model, width]: decodes W_Q, W_K or W_V. Of latent attention it is the product of the matrices down
    /// and up with the weight of the norm between them, without that norm's division.
    Matrix matrix(HeadPart which) const;
    /// Returns what multiplies one row x[1, d_model], with its bias: matrix(), of latent attention divided as
    /// its norm divides at x.
    HeadProjection at_row(HeadPart which, ConstMatrixRef x, ThreadPool& pool) const;
    /// [parts, width]: projects parts that add up to what the block reads; the first takes the bias.
    Matrix project_parts(HeadPart which, ConstMatrixRef parts, ThreadPool& pool) const;
    /// Returns the norm of q, k or v, for this head's components; absent if there is none.
    Norm norm(HeadPart which) const;
    /// [d_value, d_model]: decodes W_O, without its bias.
    Matrix output() const;
    /// [rows, width]: projects what the block reads, x[rows, d_model], to q, k or v, not normed or rotated.
    Matrix project_alone(HeadPart which, ConstMatrixRef x, ThreadPool& pool,
                         bool without_biases = false) const;
    /// [rows, width]: projects it, and norms it if the layer does; not rotated. without_biases: of the
    /// projection and of the norm.
    Matrix project(HeadPart which, ConstMatrixRef x, ThreadPool& pool, bool without_biases = false) const;
    /// Returns the vector whose mean and deviation the norm of q or k takes, for one row x: the head's, or
    /// all heads' (QkNorm::whole).
    Vector normed_over(HeadPart which, ConstMatrixRef x, ThreadPool& pool) const;

    /// Returns the width of q and k, or of v.
    Index width(HeadPart which) const { return which == HeadPart::v ? spec_.value_width() : spec_.d_head; }

private:
    /// Returns W_Q, W_K or W_V: d_model → width, with its bias; there is no latent.
    Linear part(HeadPart which) const;
    LatentPath path(HeadPart which) const { return latent_path(spec_, weights_, head_, which); }
    const Linear& all(HeadPart which) const;
    const Norm& all_norms(HeadPart which) const;
    Index number(HeadPart which) const;  // of the head among those of the projection

    const ModelConfig& config_;
    const AttentionSpec& spec_;
    const AttentionWeights& weights_;
    Index head_, kv_head_;
};

}  // namespace headlight
