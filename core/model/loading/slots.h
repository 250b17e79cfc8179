// Lists the tensors that models are made of, whatever a family calls them: shape, bias, and what they are
// bound to. Binding, packing and counts read this table.
#pragma once

#include <functional>
#include <span>
#include <variant>

#include "model/model.h"

namespace headlight {

/// Names what a tensor is. Fused ones hold several: qkv holds q, k and v; gate_up holds gate and up.
/// q_gate: q of each head, then its gate. mixer_in: q, k, v, the gate and the scores of decay of a
/// recurrence; mixer_rates: scores of strength and decay; mixer_states: the row of steps, k and q of a
/// selective one, step_norm, key_norm and query_norm: their norms. added_tables: their rows 0 are added to
/// every type; joined_tables: theirs are joined to every embedding. layer_table holds the vectors of all
/// layers, one beside the other; layer_project likewise, streams_enter and streams_leave of streams. …_reads:
/// weights by which a reader multiplies a layer's rows. xielu_…: the parameters of that activation.
/// attn_scale and mlp_scale multiply rows of o and down.
enum class Slot {
    token_embedding,
    position_embedding,
    type_embedding,
    added_tables,
    class_token,
    registers,
    patch,
    embed_norm,
    embed_project,
    joined_tables,
    relative_embedding,
    relative_norm,
    attn_norm,
    qkv,
    q_gate,
    mixer_in,
    mixer_rates,
    q_down,
    q_down_norm,
    q,
    kv_down,
    kv_down_norm,
    kv_up,
    k,
    v,
    q_bias,
    v_bias,
    o,
    o_bias,
    attn_gate,
    sinks,
    relative_key,
    relative_query,
    q_norm,
    k_norm,
    v_norm,
    attn_post_norm,
    attn_scale,
    cross_norm,
    cross_q,
    cross_k,
    cross_v,
    cross_o,
    cross_post_norm,
    mlp_norm,
    gate_up,
    gate,
    up,
    down,
    xielu_positive,
    xielu_negative,
    xielu_beta,
    xielu_end,
    mlp_post_norm,
    mlp_scale,
    convolution,
    convolution_norm,
    relative_bias,
    final_norm,
    head_dense,
    head_norm,
    unembedding,
    unembedding_bias,
    contact,
    router,
    router_bias,
    shared_gate,
    expert_gate_up,
    expert_gate,
    expert_up,
    expert_down,
    expert_scales,
    shared_reads,
    experts_read,
    router_reads,
    shared_post_norm,
    experts_post_norm,
    layer_table,
    layer_project,
    layer_project_norm,
    layer_embed_gate,
    layer_embed_out,
    layer_embed_norm,
    output_scale,
    streams_enter,
    streams_leave,
    streams_norm,
    streams_router,
    streams_predict,
    streams_correct,
    streams_scale,
    laurel_down,
    laurel_up,
    laurel_norm,
    gate_norm,
    decay,
    strength,
    decay_rate,
    step_bias,
    skip,
    mixer_kernel,
    mixer_kernel_bias,
    mixer_states,
    step_norm,
    key_norm,
    query_norm,
};

/// Gives the size that a configuration calls for. out 0: the model has no such tensor; in 0: a vector.
struct TensorShape {
    int64_t out = 0, in = 0;
    bool bias = false;
    explicit operator bool() const { return out > 0; }
    /// Returns its axes as stored, if it is no matrix of a product.
    std::vector<int64_t> axes() const { return in ? std::vector{out, in} : std::vector{out}; }
};

/// Places a slot: in a layer of a stack; −1: in the stack, or the model. second: in the mixer beside a
/// layer's attention.
struct SlotPlace {
    int stack = 0, layer = -1, expert = -1;
    bool second = false;
};

/// Points to the weights that own a tensor; layer: null for those of a stack or of the model.
struct TensorOwner {
    ModelWeights& model;
    StackWeights& stack;
    LayerWeights* layer = nullptr;
    ExpertWeights* expert = nullptr;
    AttentionWeights* attention = nullptr;
};

/// Finds a tensor in its owner; monostate: it is split into others, or added to one.
using TensorPlace = std::variant<std::monostate, Linear& (*)(const TensorOwner&),
                                 Norm& (*)(const TensorOwner&), const float*& (*)(const TensorOwner&)>;

/// Says what owns a tensor: each expert of a layer, a layer's attention and a mixer beside it, each layer,
/// each stack, or the model.
enum class OwnedBy { model, stack, layer, attention, expert };

struct SlotRow {
    Slot slot;
    OwnedBy owner;
    TensorShape (*shape)(const ModelConfig&, const StackConfig&, const LayerSpec&);
    TensorPlace place;
};

/// Returns the table, in the order of the residual stream but for later_slots().
std::span<const SlotRow> slots();
/// Returns its last rows: of experts, of the vectors that a layer alone reads, and of recurrences
/// (loading/later_slots.cpp).
std::span<const SlotRow> later_slots();
const SlotRow& slot_row(Slot slot);

/// Calls see(slot, matrix, where) for each place of a matrix; stack −1: of the model.
using SeeMatrix = std::function<void(Slot slot, Linear& w, SlotPlace at)>;
void each_matrix(ModelWeights& weights, const SeeMatrix& see);

/// Lists the matrices that multiply rows of x, for packing; with `tables` also those read by the row.
std::vector<Linear*> matrices_of(ModelWeights& weights, bool tables = false);

}  // namespace headlight
