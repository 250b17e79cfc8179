// Describes passes over one stack, for the files of the forward pass.
#pragma once

#include <functional>
#include <span>

#include "base/cast.h"
#include "model/forward.h"

namespace headlight {

/// Holds what passes over one stack share.
struct StackRun {
    const Model& model;
    const StackConfig& stack;
    const StackWeights& weights;
    ThreadPool& pool;

    const ModelConfig& config() const { return model.config; }
    /// Returns the layer's attention blocks: attention, then the second one.
    std::vector<int> blocks_of(int layer) const {
        return config().blocks_of(narrow<int>(&stack - config().stacks.data()), layer);
    }
    Matrix norm(const Norm& n, ConstMatrixRef x) const { return apply_norm(config(), n, x, pool); }
};

struct Pass : StackRun {
    const Sequence& input;
    Matrix source = {};        // what cross-attention reads: the encoder's final norm
    bool source_past = false;  // source is the earlier pass's
    const StackActivations* past = nullptr;
    Index n_past = 0;                        // rows reused from it
    int layers_past = 0;                     // layers reused whole
    std::span<const LayerRules> rules = {};  // of each layer
    PatternObserver* observer = nullptr;
    const Matrix* embeddings = nullptr;  // replaces embed()
    std::shared_ptr<StackActivations> out = std::make_shared<StackActivations>();

    /// Returns its tokens' positions, the same in every layer.
    const PositionIds& positions() const { return rules.front().self->positions; }
    /// [n − n_past]: returns the positions of the new tokens.
    std::vector<int> new_positions() const {
        std::vector<int> at;
        for (int i = narrow<int>(n_past); i < input.size(); ++i) at.push_back(positions().of(i));
        return at;
    }
};

/// Calls rows(first, count) for blocks of rows, on all threads.
void for_row_blocks(ThreadPool& pool, Index n, Index block, const std::function<void(Index, Index)>& rows);

/// [rows, w.out]: x W + b.
Matrix project(ThreadPool& pool, ConstMatrixRef x, const Linear& w);

/// [n − n_past, d_model]: computes the input of layer 0 for the new rows.
Matrix embed(const Pass& pass);
/// Computes it with each token's embedding replaced by the vocabulary's mean, each patch by the mean color.
Matrix embed_mean(const Pass& pass);

/// feed_forward: the MLP with its post-norm, without the experts in `off`; attention_output: a block's
/// output, 0 if skipped. Of one pass.
Matrix feed_forward(const StackRun& run, int layer, const Matrix& x, std::span<const int> off = {});
Matrix attention_output(const StackRun& run, const AttentionSpec& spec, const AttentionWeights& weights,
                        const AttentionActivations& a);

}  // namespace headlight
