// Describes the way of a gradient down one layer, for the files that take it.
#pragma once

#include <utility>

#include "base/spare.h"
#include "model/backward/layer_backward.h"
#include "model/backward/vector_jacobian.h"
#include "model/convolution.h"

namespace headlight {

/// Adds a part that nothing else reads.
inline void add_spare(Matrix& to, Matrix part) {
    to += part;
    leave_spare(std::move(part));
}

/// sum = x + block(reads); out = sum (pre-norm) or norm(sum) (post-norm).
struct BlockOutput {
    Matrix sum, out;
};

/// Holds the gradients by x and by reads of x + block(reads).
struct ResidualGradients {
    Matrix x, reads;
};

/// Names an attention block of a layer, and where its gradients are kept.
struct BlockBackward {
    int block;
    const AttentionSpec& spec;
    const AttentionWeights& w;
    const AttentionActivations& a;
    AttentionGradients& out;
};

struct LayerBackward {
    StackBackward& s;
    int l;
    const LayerSpec& spec;
    const LayerWeights& w;
    const LayerActivations& a;
    GradientRows& rows;  // rows of the current gradient
    LayerGradients& out;
    const bool kept, after;  // kept: store gradients; after: post-norm

    Matrix run(Matrix by_post);
    struct Between {
        BlockOutput self, second;
        Matrix mlp_sum;
    };
    Between rerun_blocks(const Matrix& resid_pre);
    template <class Block>
    BlockOutput rerun(const Norm& norm, const Matrix& x, const Block& block) const {
        BlockOutput p{x + block(), {}};
        p.out = after ? s.norm(norm, p.sum) : p.sum;
        return p;
    }
    template <class Vjp>
    ResidualGradients residual_vjp(const Norm& norm, const Matrix& reads, const Matrix& sum, Matrix d,
                                   const Vjp& vjp);
    BlockBackward first_block() const {
        return {s.blocks_of(l).front(), spec.attention, w.self, a.self, out.self};
    }
    BlockBackward second_block() const {
        return {s.blocks_of(l).back(), *spec.second, w.second, a.second, out.second};
    }
    Matrix self_attention_vjp(const BlockBackward& b, const Matrix& x, Matrix d);
    Matrix cross_attention_vjp(const BlockBackward& b, Matrix d);
    ResidualGradients second_vjp(const Matrix& reads, const Matrix& sum, Matrix d);
    Matrix joined(ResidualGradients both, const GradientRows& left) const;
    Matrix blocks_vjp(const Matrix& pre, const Between& between, Matrix d);
    Matrix mlp_vjp_of(const Matrix& x, const Matrix& d) const;
    void leave_embedding(const Matrix& mlp_sum, Matrix& d) const;
    Matrix inner_vjp(const Matrix& pre, const Between& between, Matrix d);
    Matrix run_streams(Matrix by_post);
    Matrix attention_vjp_beside(const Matrix& x, const Matrix& d);
    ConvolutionGradients leave_convolution(const Matrix& pre, const Matrix& mlp_sum, Matrix& d) const;
    Matrix with_convolution(Matrix d, ConvolutionGradients through);
    void lend(const GradientRows& keys, const AttentionGradients& g) const;
    Matrix with_lent(const BlockBackward& b, const Matrix& x, Matrix by_x);
    Matrix block_vjp(const BlockBackward& b, Matrix d, const GradientRows& keys,
                     AttentionGradients& gradients) const;
    Matrix heads_vjp(const Matrix& x, Matrix d, const GradientRows& of, const Linear& weights,
                     const Norm& norm, int heads) const;
    void undo_rotation(const GradientRows& of, int heads, Matrix& d) const;
    void rotate(int heads, Matrix& y) const;
    Matrix scaled_queries(const GradientRows& of, Matrix d) const;
    Matrix queries_vjp(const Matrix& x, Matrix d, const GradientRows& of) const;
    Matrix keys_vjp(const Matrix& x, Matrix by_k, const Matrix& by_v) const;
    Matrix recurrence_back(const BlockBackward& b, const Matrix& x, const AttentionGradients& g,
                           const Matrix& by_gate, const GradientRows& queries, const GradientRows& entering);
    void undo_clip(const Matrix& before, const GradientRows& of, Matrix& d) const;
    Matrix norm_vjp_of_rows(const Norm& norm, const Matrix& x, const Matrix& d) const {
        return norm_vjp(s.config(), norm, x, d, rows.token_of(), s.pool);
    }
    /// Copies a gradient to `to`, if gradients are kept.
    void keep(Matrix& to, const Matrix& gradient) const {
        if (kept) to = gradient;
    }
};

}  // namespace headlight
