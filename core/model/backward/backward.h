// The reverse pass: what a small step of anything inside would do to one number. Vector–Jacobian products
// through every layer that the forward pass runs, under the same masks and changes; no gradients by weights.
#pragma once

#include <span>
#include <vector>

#include "model/attention.h"
#include "model/backward/gradient_rows.h"
#include "model/forward.h"

namespace headlight {

/// Gradients of one attention block: by q and k as they meet (normalized, rotated), by v, and by z as the
/// output matrix reads it: zeros where the block was skipped. By what it adds to the stream.
struct AttentionGradients {
    Matrix q, z;  // [n, heads · d_head]
    Matrix k, v;  // [keys, kv_heads · d_head]
    Matrix out;   // [n, d_model]
};

struct LayerGradients {
    AttentionGradients self, cross;
    Matrix resid_pre;    // [n, d_model], by what the layer reads; StackGradients::resid but for replaced rows
    Matrix resid_cross;  // [n, d_model], by what cross-attention is added to; none: the layer has none
    Matrix resid_mid;    // [n, d_model], by what the MLP is added to
    Matrix mlp_out;      // [n, d_model], by what the MLP adds
};

struct StackGradients {
    /// layers + 1 of [n, d_model]: by what enters each layer (0: the embeddings, positions and all), then by
    /// what leaves the last one. resid[l + 1] is by resid_post of layer l: 0 in rows that a person replaced.
    std::vector<Matrix> resid;
    std::vector<LayerGradients> layers;
};

struct Gradients {
    std::vector<StackGradients> stacks;
};

/// Where a reverse pass begins: a gradient by rows of one stack's residual stream at a depth 0 … layers as
/// StackGradients::resid counts them, or behind its final norm (depth layers + 1).
struct GradientSeed {
    int stack = 0, depth = 0, row = 0;
    Matrix gradient;  // [rows from `row` on, d_model]
    int number = 0;   // seeds of one number are added up; see backward
};

/// Rows of one head's gradients while they are in the cache, as PatternTile has the rows of its pattern.
struct GradientTile {
    const PatternTile& pattern;
    ConstMatrixRef by_weights;  // [queries, keys], by the pattern
    ConstMatrixRef by_scores;   // … by the scores before mask and temperature: 0 where they play no part
    int number = 0;             // the seeds' that they are of
};

/// Sees the gradients that grow with n², which nobody keeps. The last layer comes first; of a skipped block
/// nothing is said.
class GradientObserver {
public:
    virtual ~GradientObserver() = default;
    /// Before the tiles of a block, when those of the block before are through.
    virtual void begin(int block) = 0;
    /// All heads of a block, on any threads, each head's tiles of a number one after another: those rows that
    /// are not zero.
    virtual void see(int block, const GradientTile& tile) = 0;
};

/// The gradients of the seeds' sum by everything inside the pass that left these activations over these
/// sequences. What a layer computed between the rows it left is computed again. Memory grows with n. Seeds of
/// several numbers 0 … m − 1 go back together, so that weights are read once: every matrix then holds m
/// times its rows, those of number 0 first. An error means that a gradient is not finite, or that `cancel`
/// was set: it is read between the tiles of each layer.
Result<Gradients> backward(const Model& model, std::span<const Sequence> inputs,
                           const Activations& activations, std::span<const GradientSeed> seeds,
                           ThreadPool& pool, const CancelFlag* cancel = nullptr,
                           GradientObserver* observer = nullptr);

/// By what enters layer 0 of a stack: of each number the rows that are not zero.
struct EmbeddingGradients {
    GradientRows rows;
    Matrix values;  // [rows, d_model]
    /// [n, d_model] of one number.
    Matrix of(int number) const;
    /// [n]: its rows' squared lengths.
    Vector squared_lengths(int number) const;
};

/// The same by the embeddings of each stack alone. No gradient is kept on the way, and rows that nothing
/// depends on are not propagated: in a causal stack those behind a seed, in the layer of a seed all others.
Result<std::vector<EmbeddingGradients>> embedding_gradients(
    const Model& model, std::span<const Sequence> inputs, const Activations& activations,
    std::span<const GradientSeed> seeds, ThreadPool& pool, const CancelFlag* cancel = nullptr,
    GradientObserver* observer = nullptr);

/// From a gradient by the logits [vocab] at a row of the last stack to one by that row behind the final norm,
/// through the model's head.
GradientSeed logits_seed(const Model& model, const Activations& activations, int row, const Vector& gradient,
                         ThreadPool& pool);

}  // namespace headlight
