// Counts the parameters of each part of a model, from its configuration alone, by the names of "attention,
// step by step" (3Blue1Brown 2024): one W_Q, a head, a layer's attention, all attention, the whole model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/loading/parameters.h"

namespace headlight {

/// Describes the attention blocks of one kind: all of a stack, or its cross-attention.
struct AttentionCount {
    std::string blocks;  // "", "encoder", "decoder", "cross"
    int layers = 0;      // layers with weights of their own
    int heads = 0, kv_heads = 0;
    int64_t d_model = 0, d_head = 0, d_value = 0;
    bool bias = false, output_bias = false;  // on q, k and v; on W_O's output
    bool keys = true, values = true;         // has W_K and W_V of its own; values: beside W_K
    bool apart = false;  // heads have no W_Q, W_K and W_V that are stored: of a latent, of a recurrence
    /// d_model · d_head: the size of each of W_Q and W_K of one head; value_matrix: of W_V and W_O.
    int64_t matrix() const { return d_model * d_head; }
    int64_t value_matrix() const { return d_model * d_value; }
    /// Counts the four matrices that one head reads; with fewer kv_heads some are shared.
    int64_t head() const { return 2 * (matrix() + value_matrix()); }
    int64_t layer() const { return (matrix() + value_matrix()) * heads + d_model * made() * kv_heads; }
    int64_t layer_biases() const {
        return (bias ? d_head * heads + made() * kv_heads : 0) + (output_bias ? d_model : 0);
    }
    /// Counts the components that one key/value head's own matrices make.
    int64_t made() const { return (keys ? d_head : 0) + (values ? d_value : 0); }
    int64_t all() const { return layers * layer(); }
};

std::vector<AttentionCount> attention_counts(const ModelConfig& config);

/// Counts the weights of a model's matrices: no biases, norms or positions; the unembedding even if tied.
struct MatrixCount {
    int64_t embedding = 0, attention = 0, mlp = 0, unembedding = 0;
    int64_t all() const { return embedding + attention + mlp + unembedding; }
};
MatrixCount matrix_count(const ModelConfig& config);

struct NamedCount {
    std::string name;       // "W_Q of a head"
    std::string of;         // factors: "768 × 64", "12 heads", "12 layers"
    int64_t matrices = 0;   // weights of matrices alone; 0: none
    int64_t all = 0;        // with biases, norms and positions
    bool shares = false;    // part of the whole, with a share of its matrices (share_of)
    bool whole = false;     // all matrices, of which shares are
    const char* help = "";  // one sentence, with its formula
};
/// Lists counts from one matrix to the whole model; the whole twice if the unembedding is tied, with it
/// counted and not. Leaves out empty parts.
std::vector<NamedCount> named_counts(const ModelConfig& config);
/// Returns a count's share of all matrices, 0 … 1.
double share_of(const NamedCount& count, const ModelConfig& config);

/// Returns whether each token gets a score from a matrix with one row per token, as in language models.
bool unembeds(const ModelConfig& config);

/// The largest GPT-3 (Brown et al. 2020, table 2.1), the smallest GPT-2 (Radford et al. 2019) and the base
/// Transformer (Vaswani et al. 2017, table 3).
enum class Published { gpt3, gpt2, transformer };
const ModelConfig& published_config(Published model);

}  // namespace headlight
