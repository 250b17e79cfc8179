// What the families' files bind their tensors with. It keeps the first error, so that a family reads as a
// list of what it has.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/model.h"

namespace headlight {

/// Where a masked-language head keeps its tensors.
struct MlmHeadNames {
    std::string dense, norm, decoder, bias;
};

/// Asks a store for tensors, and remembers which: one that is left over is an error (model/loading/unread.h).
class Binder {
public:
    Binder(WeightStore& store, const ModelConfig& config) : store_(store), c_(config) {}

    /// name.weight and, with `bias`, name.bias ("gamma" and "beta" in old files).
    Norm norm(const std::string& name, int64_t width, bool bias);
    Norm norm(const std::string& name) { return norm(name, c_.d_model, c_.norm_bias); }
    /// name.weight and, with `bias`, name.bias; a GGUF file says by its tensors alone where biases are.
    Linear linear(const std::string& name, int64_t in, int64_t out, bool bias);
    /// GPT-2's Conv1D: [in, out].
    Linear conv1d(const std::string& name, int64_t in, int64_t out);
    /// An embedding table, name.weight[rows, width].
    Linear table(const std::string& name, int64_t rows, int64_t width);
    /// The first of these tables that is stored. Files hold tensors that are tied under any of their names,
    /// and where they hold several that differ, each is used for what it is called (transformers 5).
    Linear tied_table(const std::vector<std::string>& names, int64_t rows, int64_t width);
    /// The token embedding, which may be stored as the unembedding that is tied to it.
    Linear embedding(const std::string& name, int64_t rows, int64_t width, const std::string& head);
    const float* vector(const std::string& name, const std::vector<int64_t>& shape);
    /// Width of all heads of the only stack together.
    int64_t inner() const;
    /// q, k and v of the only stack out of one matrix: one after another, or (`by_head`, where each head has
    /// a key/value head of its own) in turn for each head.
    void split_qkv(AttentionWeights& into, const Linear& qkv, bool by_head);
    /// q, k, v and o of a stack's block by their names under `at`; `fused` is the one matrix that holds q, k
    /// and v in some GGUF files.
    void attention(AttentionWeights& into, const StackConfig& stack, const std::string& at, const char* q,
                   const char* k, const char* v, const char* o, const char* fused = "");
    /// Norm, mlp_in and the rest, by names under `at`.
    void mlp(LayerWeights& into, const StackConfig& stack, const std::string& in, const std::string& out,
             const std::string& gate = "");
    /// The layers of a stack: bind(layer, "BEFORE0.") for each.
    template <class Bind>
    std::vector<LayerWeights> layers(const StackConfig& stack, const std::string& before, const Bind& bind) {
        std::vector<LayerWeights> out(stack.layers);
        for (int l = 0; l < stack.layers; ++l) bind(out[l], before + std::to_string(l) + ".");
        return out;
    }
    /// The unembedding: what is stored as `name`, else the embedding where they are tied; absent where a base
    /// model has none. Its bias is the first of `biases` that is stored.
    Linear unembedding(const Linear& embedding, const std::string& name, int64_t width,
                       const std::vector<std::string>& biases = {});

    bool has(const std::string& name) const { return store_.has(name); }
    const ModelConfig& config() const { return c_; }
    Result<ModelWeights> finish(ModelWeights weights) const;
    /// A single stack with its unembedding.
    Result<ModelWeights> finish(StackWeights stack, const Linear& unembedding) const;
    /// A single stack with a masked-language head, or without one where the file holds a base model.
    Result<ModelWeights> finish(StackWeights stack, const MlmHeadNames& names, bool has_head);

private:
    void mark(const std::string& name);
    /// The first of these that is stored, else the first; all count as read.
    std::string stored_of(const std::vector<std::string>& names);
    Linear matrix(const std::string& name, int64_t in, int64_t out, WeightLayout layout);

    WeightStore& store_;
    const ModelConfig& c_;
    std::string error_;
    std::set<const StoredTensor*> read_;
    std::map<const StoredTensor*, Linear> matrices_;  // a tied one is decoded once
};

}  // namespace headlight
