// The forward pass, for every family: what it reads is data in ModelConfig and ModelWeights.
#pragma once

#include <memory>
#include <vector>

#include "base/matrix.h"
#include "base/threads.h"
#include "model/attention.h"
#include "model/interventions/change.h"
#include "model/sequence.h"

namespace headlight {

/// What a person put in the place of the model's own computation.
struct Intervention {
    Mask mask;
    std::vector<Change> changes;
    bool operator==(const Intervention&) const = default;
};

/// What of a stack of an earlier pass holds for this one too: all of it, its first rows through all layers,
/// or its first layers with all their rows.
struct StackReuse {
    bool whole = false;
    int rows = 0, layers = 0;
};

struct Reuse {
    const Activations* past = nullptr;
    std::vector<StackReuse> stacks;
};

/// Sees the patterns of a pass while they are computed.
class PatternObserver {
public:
    virtual ~PatternObserver() = default;
    /// Tiles of a block come, which are those of its queries from `first` on: earlier rows were taken over.
    /// Of a block that was taken over whole nothing is said.
    virtual void begin(int block, int first) = 0;
    /// One tile, on any thread: no row comes twice.
    virtual void see(int block, const PatternTile& tile) = 0;
};

/// What one pass runs on: a sequence per stack, which were checked for the model, and the rules of each layer
/// of each stack (attention_rules). Only what is not reused is computed. `observer` (or null) sees what is.
struct PassRequest {
    const CheckedSequences& inputs;
    std::span<const std::vector<LayerRules>> rules;
    Reuse reuse = {};
    PatternObserver* observer = nullptr;
    /// [n, d_model] of each stack: what enters layer 0 in place of its tokens' embeddings; empty: those.
    std::span<const Matrix> embeddings = {};
};

/// Runs the model on each of them; the passes advance layer by layer together, so that weights are read once
/// for all. What comes out is, bit for bit, what each would give alone. Each stage is checked once for what
/// is not finite: the error names the first, and one pass that has it ends them all. `cancel` is read between
/// the tiles of each layer.
Result<std::vector<Activations>> forward(const Model& model, std::span<const PassRequest> requests,
                                         ThreadPool& pool, const CancelFlag* cancel = nullptr);

/// [n, d_model] of each stack: what would enter layer 0 if every token's embedding were the mean over the
/// vocabulary, where it stands; of a picture, if every patch had the mean color.
std::vector<Matrix> mean_embeddings(const Model& model, std::span<const Sequence> inputs,
                                    std::span<const std::vector<LayerRules>> rules, ThreadPool& pool);

/// logits[rows, vocab] of rows of the final norm, through the model's head. The model must have one. Throws
/// Failure where they are not finite.
Matrix unembed(const Model& model, ConstMatrixRef normalized, ThreadPool& pool);

/// [rows, d_model]: z of some rows through the output matrix; and what the block adds: the same, through the
/// norm behind it where there is one.
Matrix project_out(const AttentionWeights& weights, ConstMatrixRef z, ThreadPool& pool);
Matrix block_output(const ModelConfig& config, const AttentionWeights& weights, ConstMatrixRef z,
                    ThreadPool& pool);

/// mlp_out[rows, d_model] of a layer's MLP, which reads x[rows, d_model]: what it adds to the residual
/// stream.
Matrix mlp_output(const Model& model, int stack, int layer, ConstMatrixRef x, ThreadPool& pool);

/// y = norm(x) row by row. Layer normalization: Ba et al. 2016; RMSNorm: Zhang and Sennrich 2019.
Matrix apply_norm(const ModelConfig& config, const Norm& norm, ConstMatrixRef x, ThreadPool& pool);

}  // namespace headlight
