// Binds the tensors of a family. Keeps the first error, so that a family reads as a list of its tensors.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/model.h"

namespace headlight {

/// Names the tensors of a masked-language head.
struct MlmHeadNames {
    std::string dense, norm, decoder, bias;
};

/// Asks a store for tensors, and remembers which: one left over is an error (model/loading/unread.h).
class Binder {
public:
    Binder(WeightStore& store, const ModelConfig& config) : store_(store), c_(config) {}

    /// Binds name.weight and, with `bias`, name.bias ("gamma" and "beta" in old files).
    Norm norm(const std::string& name, int64_t width, bool bias);
    Norm norm(const std::string& name) { return norm(name, c_.d_model, c_.norm_bias); }
    /// Binds name.weight and, with `bias` (in a GGUF file: if stored), name.bias.
    Linear linear(const std::string& name, int64_t in, int64_t out, bool bias);
    /// Binds GPT-2's Conv1D: [in, out].
    Linear conv1d(const std::string& name, int64_t in, int64_t out);
    /// Binds an embedding table, name.weight[rows, width].
    Linear table(const std::string& name, int64_t rows, int64_t width);
    /// Binds the first of these tables that is stored. Files store tied tensors under any of their names; if
    /// they hold several that differ, each is used under its own name (transformers 5).
    Linear tied_table(const std::vector<std::string>& names, int64_t rows, int64_t width);
    /// Binds the token embedding, which may be stored as the unembedding tied to it.
    Linear embedding(const std::string& name, int64_t rows, int64_t width, const std::string& head);
    const float* vector(const std::string& name, const std::vector<int64_t>& shape);
    /// Returns heads · d_head of the only stack.
    int64_t inner() const;
    /// Splits q, k and v of the only stack out of one matrix: concatenated, or (`by_head`, if each head has
    /// its own key/value head) interleaved by head.
    void split_qkv(AttentionWeights& into, const Linear& qkv, bool by_head);
    /// Binds q, k, v and o of a block by their names under `at`; `fused` names the one matrix that holds q, k
    /// and v in some GGUF files.
    void attention(AttentionWeights& into, const StackConfig& stack, const std::string& at, const char* q,
                   const char* k, const char* v, const char* o, const char* fused = "");
    /// Binds norm, mlp_in and the rest by names under `at`.
    void mlp(LayerWeights& into, const StackConfig& stack, const std::string& in, const std::string& out,
             const std::string& gate = "");
    /// Binds the layers of a stack: calls bind(layer, "BEFORE0.") for each.
    template <class Bind>
    std::vector<LayerWeights> layers(const StackConfig& stack, const std::string& before, const Bind& bind) {
        std::vector<LayerWeights> out(stack.layers);
        for (int l = 0; l < stack.layers; ++l) bind(out[l], before + std::to_string(l) + ".");
        return out;
    }
    /// Binds the unembedding: `name` if it is stored, else the embedding if they are tied; absent in a base
    /// model. Its bias is the first of `biases` that is stored.
    Linear unembedding(const Linear& embedding, const std::string& name, int64_t width,
                       const std::vector<std::string>& biases = {});

    bool has(const std::string& name) const { return store_.has(name); }
    const ModelConfig& config() const { return c_; }
    Result<ModelWeights> finish(ModelWeights weights) const;
    /// Finishes a single stack with its unembedding.
    Result<ModelWeights> finish(StackWeights stack, const Linear& unembedding) const;
    /// Finishes a single stack with a masked-language head, or without one if the file holds a base model.
    Result<ModelWeights> finish(StackWeights stack, const MlmHeadNames& names, bool has_head);

private:
    void mark(const std::string& name);
    /// Returns the first of these names that is stored, else the first; marks all as read.
    std::string stored_of(const std::vector<std::string>& names);
    Linear matrix(const std::string& name, int64_t in, int64_t out, WeightLayout layout);

    WeightStore& store_;
    const ModelConfig& c_;
    std::string error_;
    std::set<const StoredTensor*> read_;
    std::map<const StoredTensor*, Linear> matrices_;  // decodes tied matrices once
};

}  // namespace headlight
