// How many numbers each part of a model holds, by the names of "attention, step by step" (3Blue1Brown 2024):
// one W_Q, a head, a layer's attention, all attention, the whole model. From a configuration alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/loading/parameters.h"

namespace headlight {

/// The attention blocks of one kind: all of a stack, or its cross-attention.
struct AttentionCount {
    std::string blocks;  // "", "encoder", "decoder", "cross"
    int layers = 0;      // that hold weights of their own
    int heads = 0, kv_heads = 0;
    int64_t d_model = 0, d_head = 0;
    bool bias = false, output_bias = false;  // on q, k and v; on what W_O gives
    /// Each of W_Q, W_K, value-down and value-up of one head: d_model · d_head.
    int64_t matrix() const { return d_model * d_head; }
    /// The four matrices that one head reads; some of them shared with others where there are fewer kv_heads.
    int64_t head() const { return 4 * matrix(); }
    int64_t layer() const { return matrix() * 2 * (int64_t{heads} + kv_heads); }
    int64_t layer_biases() const {
        return (bias ? d_head * (int64_t{heads} + 2 * int64_t{kv_heads}) : 0) + (output_bias ? d_model : 0);
    }
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

/// A count by its name.
struct NamedCount {
    std::string name;       // "W_Q of a head"
    std::string of;         // what it is made of: "768 × 64", "12 heads", "12 layers"
    int64_t matrices = 0;   // weights of matrices alone; 0: it has none
    int64_t all = 0;        // with biases, norms and positions
    bool shares = false;    // it is a part of the whole, with a share of its matrices (share_of)
    const char* help = "";  // one sentence, with its formula
};
/// From one matrix to the whole model; the whole twice where it makes a difference, with an unembedding of
/// its own and with one that is the embedding's table. Zero parts are left out.
std::vector<NamedCount> named_counts(const ModelConfig& config);
/// A count's share of all matrices, 0 … 1.
double share_of(const NamedCount& count, const ModelConfig& config);

/// Whether each token gets a score from a matrix of one row per token, as language models do.
bool unembeds(const ModelConfig& config);

/// GPT-3's configuration (Brown et al. 2020, table 2.1).
const ModelConfig& gpt3_config();

}  // namespace headlight
