// Shows a whole attention block around one query and one key, vector by vector: from the residual stream
// through norm and W_Q, W_K, W_V to q, k and v, and from the concatenated heads through W_O back to the
// stream.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/attention/block_weights.h"
#include "analysis/attention/score_steps.h"

namespace headlight {

/// Names a vector of the chain. A model has those that it computes.
enum class ChainStep {
    query_in,    // [d_model] of the query's token, from the residual stream
    query_norm,  // … after the norm before the block
    q,           // [d_head] W_Q · x + b
    q_norm,      // normalized per head
    q_rotated,   // rotated by its position
    key_in,      // [d_model] of the key's token; in cross-attention the encoder's output
    key_norm,
    k,
    k_norm,
    k_rotated,
    v_made,      // [d_value] W_V · x + b, if v is its norm
    v,           // [d_value]
    z,           // [d_value] of the head: Σ weight · v
    heads,       // [heads · d_value]: z of all heads, concatenated
    gate,        // … what multiplies them before W_O, if the block has a gate
    gated,       // … z ∘ gate
    projected,   // [d_model] W_O · heads + b
    added_norm,  // normalized before it is added (Gemma 2)
    sum,         // query_in + the block's output
    next_norm    // post-norm: the block's own norm; pre-norm: the norm that reads the sum next
};

struct ChainStage {
    ChainStep step;
    std::string name, formula;  // "q", "W_Q x + b"
    Vector values;
};

/// Explains how one entry was computed from the previous stage.
struct ChainEntry {
    ChainStep step = ChainStep::q, from = ChainStep::query_norm;
    int dimension = 0;
    float value = 0;
    /// A matrix: the row of weights that multiplies the stage `from`, then the bias.
    Vector row;
    std::optional<float> bias;
    std::string matrix;  // "W_Q"
    WeightMap picture;   // of the matrix; its rows are the entries
    /// A norm: (x − mean) / deviation · weight + bias; RMSNorm has no mean.
    float mean = 0, deviation = 0, weight = 0;
    /// A sum: its two terms; a product: its two factors.
    float term = 0, added = 0;
    enum class How { given, matrix, norm, rotated, joined, sum, weighted, product } how = How::given;
};

struct BlockChain {
    std::vector<ChainStage>
        stages;        // as computed: in the order of ChainStep, but for norms of rotated q and k
    ChainEntry entry;  // of the selected dimension
    float weight = 0;  // of the key, in the query's row
    WeightsBy weights_by = WeightsBy::softmax;
    float temperature = 1;
    const ChainStage* find(ChainStep step) const;
};

struct BlockChainRequest {
    using Answer = BlockChain;
    int block = 0, head = 0, query = 0, key = 0;
    ChainStep step = ChainStep::q;  // the selected stage, or the nearest before it that the model has
    int dimension = -1;             // of it; −1: the entry of largest magnitude
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const;
    bool operator==(const BlockChainRequest&) const = default;
};
Result<BlockChain> answer_block_chain(const Trace& trace, const BlockChainRequest& request, ThreadPool& pool,
                                      const CancelFlag* cancel = nullptr);

/// Holds the same stage of all heads of a block: one column per head.
struct HeadsStage {
    std::string name;  // "q"
    Matrix values;     // [entries, heads]; if pooled, each is the entry of largest magnitude among `step`
    int step = 1;
    bool is_weights = false;  // 0 … 1 for each key, else signed
    float largest = 0;
};
struct HeadsChainRequest {
    using Answer = std::vector<HeadsStage>;
    int block = 0, query = 0, key = 0;
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const { return block == shown.block; }
    bool operator==(const HeadsChainRequest&) const = default;
};
Result<std::vector<HeadsStage>> answer_heads_chain(const Trace& trace, const HeadsChainRequest& request,
                                                   ThreadPool& pool, const CancelFlag* cancel = nullptr);

}  // namespace headlight
