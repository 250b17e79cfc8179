// Describes attention blocks: how q, k and v are made, how tokens are mixed, what becomes of the output.
#pragma once

#include <limits>
#include <optional>

#include "model/rope.h"

namespace headlight {

/// Says how q and k are normed before their rotation (model/qk_norm.h): not; each head by the same weights,
/// by weights of its own, or without weights (Llama 4); all heads together.
enum class QkNorm { none, per_head, own_weights, unweighted, whole };
/// Describes latent attention (DeepSeek-AI 2024): one narrow row per token, the latent, from which each head
/// makes its keys and values; the last components of all keys are one row that heads share
/// (model/mixers/latent.h).
struct Latent {
    bool operator==(const Latent&) const = default;
    int q_rank = 0;     // queries too pass a row so narrow; 0: they do not
    int kv_rank = 1;    // width of the latent
    int d_shared = 1;   // last components of each key, rotated
    bool bias = false;  // of the matrices down to both
    int d_own(int d_head) const { return d_head - d_shared; }
};

/// Describes the gate of an attention's output: z is multiplied by f(x W) before W_O, x the block's input, by
/// one factor for each head or for each component of z (model/mixers/attention_gate.h).
struct AttentionGate {
    bool operator==(const AttentionGate&) const = default;
    enum class Width { none, head, component } width = Width::none;
    /// softplus: ln(1 + e^score) (Laguna); product: the score itself (LFM2).
    enum class By { sigmoid, softplus, silu, product } by = By::sigmoid;
    /// z is also divided by the root mean square of each of so many equal parts, and multiplied by weights:
    /// before the factors (gated delta net), or after them (Mamba-2); 0: it is not.
    int norms = 0;
    bool norm_after = false;
    bool norm_shared = false;  // all parts have the same weights (gated delta net)
    float norm_eps = 0;        // 0: the model's
    explicit operator bool() const { return width != Width::none; }
};

/// Describes a recurrence in place of softmax. What it makes of a text is a token × token matrix times the
/// values, signed and lower triangular (model/mixers/mixing.h). delta_rule: gated delta net (Yang et al.
/// 2025). state_space: Mamba-2 (Dao and Gu 2024). selective: Mamba (Gu and Dao 2023), each of whose channels
/// is a head with one value; all heads read the same q and k. convolution: a short one of each channel
/// (LFM2), whose tap s is a head that reads the token s places back.
struct RecurrenceSpec {
    bool operator==(const RecurrenceSpec&) const = default;
    enum class Kind { delta_rule, state_space, selective, convolution } kind = Kind::delta_rule;
    int key_heads = 1;         // of q and k as projected; each serves heads / key_heads neighbors
    int kernel = 4;            // q, k and v pass a convolution over so many tokens, the last one their own,
    bool kernel_bias = false;  // with a bias, and SiLU
    float strength = 1;        // delta_rule: the most that a token writes (2: OLMo hybrid)
    int step_rank = 1;         // selective: width of the row that Δ of all heads is made of
    /// selective: that row, q and k are divided by their root mean square, and multiplied by weights if they
    /// have some (Jamba; not in Falcon Mamba).
    enum class Norms { none, weighted, plain } norms = Norms::none;
    float norm_eps = 0;  // of these norms
    bool is_state_space() const { return kind == Kind::state_space; }
    bool is_selective() const { return kind == Kind::selective; }
    bool is_convolution() const { return kind == Kind::convolution; }
    float least_step = 0, largest_step = std::numeric_limits<float>::infinity();  // state_space: of Δ
};

/// Describes disentangled attention (DeBERTa, He et al. 2021): q and k also meet vectors of the distance
/// between query and key, which the layer projects from one table (model/mixers/disentangled.h).
struct DisentangledSpec {
    bool operator==(const DisentangledSpec&) const = default;
    int span = 0;  // the table has a row for each of −span … span − 1; farther distances take the last
    int buckets = 0;       // far distances share rows, in as many logarithmic buckets (v2); 0: they do not
    int max_distance = 0;  // … which end here
    bool to_position = false, from_position = false;  // has the terms q·Kr, k·Qr
    bool shared = false;                              // the projections of q and k make Qr and Kr
    bool key_bias = true;                             // of the projection to Kr
    bool norm = false;                                // the table is normed first
};

/// Multiplies what a block reads, what its matrices make of that, with their biases, and what it adds
/// (Falcon-H1); gate and step: of a state space.
struct Multipliers {
    bool operator==(const Multipliers&) const = default;
    float input = 1, query = 1, key = 1, value = 1, gate = 1, step = 1, output = 1;
};

/// Describes one attention: softmax, or a recurrence. Query head h reads key/value head h / (heads /
/// kv_heads).
struct AttentionSpec {
    bool operator==(const AttentionSpec&) const = default;
    int heads = 1, kv_heads = 1, d_head = 1;
    int d_value = 0;  // width of v and z of a head; 0: d_head
    Rope rope;        // dims 0: nothing is rotated
    int window = 0;   // a query sees keys less than this far back; 0: all
    int chunk = 0;    // a query sees keys of its own chunk of this many tokens alone (Llama 4); 0: all
    float scale = 0;  // of q·k; 0: 1/√d_head
    float cap = 0;    // score → cap · tanh(score / cap); 0: none
    float clip = 0;   // q, k and v are cut to ± this before any rotation (OLMo, MPT); 0: not
    /// Each head has a learned score that joins every row of its softmax as one more column, whose weight no
    /// value gets: a row of the pattern sums to 1 minus that weight (gpt-oss).
    bool sinks = false;
    AttentionGate gate;
    QkNorm qk_norm = QkNorm::none;
    bool norm_rotated = false;  // norms q and k after their rotation, not before (Hunyuan)
    /// Multiplies q of position p by 1 + growth · ln(1 + ⌊(p + growth_from) / growth_every⌋) (Ministral 3).
    float query_growth = 0;
    int growth_every = 1, growth_from = 0;
    bool bias = true, output_bias = true;  // of q, k and v; of the output
    bool key_bias = true;                  // false: k has none where q and v have one (Whisper)
    bool qv_bias = false;                  // of q and v alone (DeBERTa)
    bool bias_apart = false;               // the output's bias is a tensor of its own (GPT-NeoX Japanese)
    bool norm = true;                      // false: layer 0 reads the embeddings' norm (ModernBERT)
    bool qk_norm_bias = true;              // of the norms of q and k, if the model's have one (ESM C: not)
    bool value_norm = false;               // each head's v is normed, without weights (Gemma 4)
    bool keys_as_values = false;           // v is k before its norm and rotation (Gemma 4)
    int source = -1;  // layer before this one whose keys and values it reads (Gemma 3n); −1: its own
    std::optional<Latent> latent;  // how q, k and v are made; none: by one matrix each
    std::optional<DisentangledSpec> disentangled;
    std::optional<RecurrenceSpec> recurrence;  // in place of softmax
    Multipliers times;

    int value_width() const { return d_value ? d_value : d_head; }
    /// Returns the heads whose output and gate files hold: the taps of a convolution share them.
    int stored_heads() const { return recurrence && recurrence->is_convolution() ? 1 : heads; }
    float score_scale() const;
    float query_scale(int position) const;
    bool makes_keys() const { return source < 0; }
    bool projects_values() const { return makes_keys() && !keys_as_values; }
    /// Returns whether positions change q or k.
    bool positions_vectors() const { return rope.dims > 0 || query_growth != 0; }
};

}  // namespace headlight
