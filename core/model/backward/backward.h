// Computes the reverse pass: how a small step of any activation changes one output. Multiplies vectors by the
// Jacobian of every layer of the forward pass, under the same masks and changes; computes no gradients by
// weights.
#pragma once

#include <span>
#include <vector>

#include "model/attention.h"
#include "model/backward/gradient_rows.h"
#include "model/forward.h"

namespace headlight {

/// Holds the gradients of one attention block: by q and k after norm and rotation, by v, by z as W_O reads it
/// (zeros where the block was skipped), and by the block's output. Those by k and v are of this block's own
/// reading; where a later one reads the same keys and values, its part is its own.
struct AttentionGradients {
    Matrix q, z;  // [n, heads · d_head], [n, heads · d_value]
    Matrix k, v;  // [keys, kv_heads · d_head], [keys, kv_heads · d_value]
    Matrix out;   // [n, d_model]
};

struct LayerGradients {
    AttentionGradients self, second;
    /// [n, d_model], by the layer's input; equals StackGradients::resid except in replaced rows, and where
    /// streams run beside
    Matrix resid_pre;
    /// [n, d_model], by the residual stream before cross-attention; empty: the layer has none
    Matrix resid_cross;
    Matrix resid_mid;  // [n, d_model], by the residual stream before the MLP
    Matrix mlp_out;    // [n, d_model], by the MLP's output
};

struct StackGradients {
    /// Holds layers + 1 of [n, d_model]: by the input of each layer (0: the embeddings with positions, also
    /// as later layers read them), then by the output of the last. resid[l + 1] is by resid_post of layer l:
    /// 0 in rows that the user replaced. Of streams by the active one.
    std::vector<Matrix> resid;
    std::vector<LayerGradients> layers;
};

struct Gradients {
    std::vector<StackGradients> stacks;
};

/// Starts a reverse pass: a gradient by rows of one stack's residual stream at a depth 0 … layers, counted as
/// in StackGradients::resid, or by the output of its final norm (depth layers + 1).
struct GradientSeed {
    int stack = 0, depth = 0, row = 0;
    Matrix gradient;  // [rows from `row` on, d_model]
    int output = 0;   // which output; backward adds up the seeds of one output
};

/// Holds rows of one head's gradients while they are in cache, as PatternTile holds rows of its pattern.
struct GradientTile {
    const PatternTile& pattern;
    ConstMatrixRef by_weights;  // [queries, keys], by the pattern
    ConstMatrixRef by_scores;   // by the scores before mask and temperature: 0 where they have no effect
    int output = 0;             // which output, as GradientSeed counts them
};

/// Receives the gradients that grow with n² and are not kept, the last layer first, without skipped blocks.
class GradientObserver {
public:
    virtual ~GradientObserver() = default;
    /// Called before the tiles of a block, after all tiles of the previous block.
    virtual void begin(int block) = 0;
    /// Called for all heads of a block, on any threads, with the nonzero rows. The tiles of one head and
    /// output arrive in order.
    virtual void see(int block, const GradientTile& tile) = 0;
};

/// Computes the gradients of the seeds' sum by every activation of the pass that left `activations` over
/// these sequences. Recomputes what a layer did not keep, so that memory grows with n. Propagates several
/// outputs 0 … m − 1 together, so that weights are read once: every matrix then holds m times its rows, those
/// of output 0 first. Fails if a gradient is not finite, or if `cancel` was set; reads it between the tiles
/// of each layer.
Result<Gradients> backward(const Model& model, std::span<const Sequence> inputs,
                           const Activations& activations, std::span<const GradientSeed> seeds,
                           ThreadPool& pool, const CancelFlag* cancel = nullptr,
                           GradientObserver* observer = nullptr);

/// Holds the gradient by the input of layer 0 of a stack: for each output the nonzero rows.
struct EmbeddingGradients {
    GradientRows rows;
    Matrix values;  // [rows, d_model]
    /// [n, d_model] of one output.
    Matrix of(int output) const;
    /// [n]: squared lengths of one output's rows.
    Vector squared_lengths(int output) const;
};

/// Computes only the gradients by the embeddings of each stack. Keeps no gradient on the way and propagates
/// no zero rows: in a causal stack none after a seed, and in the seed's own layer only the seed's row.
Result<std::vector<EmbeddingGradients>> embedding_gradients(
    const Model& model, std::span<const Sequence> inputs, const Activations& activations,
    std::span<const GradientSeed> seeds, ThreadPool& pool, const CancelFlag* cancel = nullptr,
    GradientObserver* observer = nullptr);

/// Converts a gradient by the logits [vocab] at a row of the last stack into a seed at that row after the
/// final norm, through the unembedding.
GradientSeed logits_seed(const Model& model, const Activations& activations, int row, const Vector& gradient,
                         ThreadPool& pool);

}  // namespace headlight
