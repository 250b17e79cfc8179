// Runs the forward pass of every family: families differ in ModelConfig and ModelWeights, which are data.
#pragma once

#include <vector>

#include "base/matrix.h"
#include "base/threads.h"
#include "model/attention.h"
#include "model/interventions/change.h"
#include "model/sequence.h"

namespace headlight {

/// Holds the user's changes to the model's own computation.
struct Intervention {
    Mask mask;
    std::vector<Change> changes;
    bool operator==(const Intervention&) const = default;
};

/// Says which part of an earlier pass over a stack stays valid for this one: all of it, its first rows
/// through all layers, or all rows of its first layers.
struct StackReuse {
    bool whole = false;
    int rows = 0, layers = 0;
};

struct Reuse {
    const Activations* past = nullptr;
    std::vector<StackReuse> stacks;
};

/// Receives the patterns of a pass while they are computed.
class PatternObserver {
public:
    virtual ~PatternObserver() = default;
    /// Called before the tiles of a block's queries from `first` on, unless all are reused.
    virtual void begin(int block, int first) = 0;
    /// Called for one tile, on any thread; no row comes twice.
    virtual void see(int block, const PatternTile& tile) = 0;
};

/// Describes one pass: a checked sequence per stack, and the rules of each layer of each stack
/// (attention_rules). Computes only what is not reused, and shows that to `observer`, unless it is null.
struct PassRequest {
    const CheckedSequences& inputs;
    std::span<const std::vector<LayerRules>> rules;
    Reuse reuse = {};
    PatternObserver* observer = nullptr;
    /// [n, d_model] of each stack: replaces the embeddings at the input of layer 0; empty: keeps them.
    std::span<const Matrix> embeddings = {};
};

/// Runs the model on each request. Passes advance layer by layer together, so that weights are read once for
/// all; each result is bit for bit that of a pass run alone. Checks each stage for values that are not
/// finite: the error names the first such stage and ends all passes. Reads `cancel` between the tiles of each
/// layer.
Result<std::vector<Activations>> forward(const Model& model, std::span<const PassRequest> requests,
                                         ThreadPool& pool, const CancelFlag* cancel = nullptr);

/// [n, d_model] of each stack: computes the input of layer 0 with every token embedding replaced by the mean
/// over the vocabulary, at the same position; for an image, every patch by the mean color.
std::vector<Matrix> mean_embeddings(const Model& model, std::span<const Sequence> inputs,
                                    std::span<const std::vector<LayerRules>> rules, ThreadPool& pool);

/// logits[rows, vocab] = normalized · W_U + b, of a model with a head. Throws Failure if not finite.
Matrix unembed(const Model& model, ConstMatrixRef normalized, ThreadPool& pool);

/// [rows, d_model]: project_out = z · W_O + b; block_output: and the block's post-norm, if any.
Matrix project_out(const AttentionWeights& weights, ConstMatrixRef z, ThreadPool& pool);
Matrix block_output(const ModelConfig& config, const AttentionWeights& weights, ConstMatrixRef z,
                    ThreadPool& pool);

/// mlp_out[rows, d_model]: computes a layer's MLP on its input x[rows, d_model], as the changes of the layer
/// say: 0 if it is skipped, without the experts that are off. Rows that the user gives are not put in.
Matrix mlp_output(const Model& model, int stack, int layer, const LayerChanges& changed, ConstMatrixRef x,
                  ThreadPool& pool);

/// y = norm(x), row by row. LayerNorm: Ba et al. 2016; RMSNorm: Zhang and Sennrich 2019.
Matrix apply_norm(const ModelConfig& config, const Norm& norm, ConstMatrixRef x, ThreadPool& pool);
/// Returns what it adds to the mean square before its root.
inline float eps_of(const ModelConfig& config, const Norm& norm) {
    return norm.eps > 0 ? norm.eps : config.norm_eps;
}

}  // namespace headlight
