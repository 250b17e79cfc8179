// The numbers in a model's attention, matrix by matrix, and what the value matrix of a head is made of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"

namespace headlight {

/// The attention blocks of one kind: all of a stack, or its cross-attention. Weights alone, without biases.
struct AttentionCount {
    std::string blocks;  // "", "encoder", "decoder", "cross"
    int layers = 0;      // that hold weights of their own
    int heads = 0, kv_heads = 0;
    int64_t d_model = 0, d_head = 0;
    /// Each of W_Q, W_K, value-down and value-up of one head: d_model · d_head.
    int64_t matrix() const { return d_model * d_head; }
    /// The four matrices that one head reads; some of them shared with others where there are fewer kv_heads.
    int64_t head() const { return 4 * matrix(); }
    int64_t layer() const { return matrix() * 2 * (int64_t{heads} + kv_heads); }
    int64_t all() const { return layers * layer(); }
};

std::vector<AttentionCount> attention_counts(const ModelConfig& config);

/// The weights of a model's matrices: no biases, norms or positions; the unembedding counts although it may
/// be the embedding's own table.
struct MatrixCount {
    int64_t embedding = 0, attention = 0, mlp = 0, unembedding = 0;
    int64_t all() const { return embedding + attention + mlp + unembedding; }
};
MatrixCount matrix_count(const ModelConfig& config);

/// GPT-3's configuration (Brown et al. 2020, table 2.1).
const ModelConfig& gpt3_config();

/// A head's value matrix W_V W_O [d_model, d_model] as it is stored: the product of what brings a token down
/// to d_head numbers and what takes these up again. Rows are inputs.
struct ValueFactors {
    Matrix down;  // [d_model, d_head]
    Matrix up;    // [d_head, d_model]
};
/// Read from the weights, whatever their layout; only of models that have some.
ValueFactors value_factors(const Model& model, AttentionHead head, ThreadPool& pool);

/// The singular values of down · up, largest first: d_head of them, because the product has no higher rank.
Vector singular_values(const ValueFactors& factors);

}  // namespace headlight
