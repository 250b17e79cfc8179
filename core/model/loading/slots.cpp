// Tabulates the tensors of models.
#include "model/loading/slots.h"

#include "base/cast.h"
#include "model/mixers/recurrence.h"

namespace headlight {

namespace {

using C = const ModelConfig&;
using S = const StackConfig&;
using L = const LayerSpec&;
using W = const TensorOwner&;

bool is_convolution(L l) { return l.attention.recurrence && l.attention.recurrence->is_convolution(); }
/// Returns whether q and k are made of what v becomes, not of the block's input.
bool is_selective(const AttentionSpec& a) { return a.recurrence && a.recurrence->is_selective(); }

int64_t width_of_q(const AttentionSpec& a) {
    if (is_selective(a)) return 0;
    return int64_t{a.recurrence ? a.recurrence->key_heads : a.heads} * a.d_head;
}
int64_t width_of_k(const AttentionSpec& a) {
    if (a.recurrence && (a.recurrence->is_convolution() || is_selective(a))) return 0;
    return int64_t{a.recurrence ? a.recurrence->key_heads : a.kv_heads} * a.d_head;
}
int64_t width_of_v(const AttentionSpec& a) { return int64_t{a.kv_heads} * a.value_width(); }
int64_t width_of_z(const AttentionSpec& a) { return int64_t{a.stored_heads()} * a.value_width(); }

TensorShape norm_of(C c, bool present, int64_t width = 0) {
    return present ? TensorShape{width ? width : c.d_model, 0, c.norm_bias} : TensorShape{};
}

/// Returns the shape of a matrix that reads a block's input to all heads; none where a latent is read, or
/// where keys and values are another layer's.
TensorShape read_of(C c, const AttentionSpec& a, int64_t out) {
    return a.latent || !a.makes_keys() ? TensorShape{} : TensorShape{out, c.d_model, a.bias};
}

/// Returns the shape of a norm of q (or k): of each head, with a row of weights for each or the same, or of
/// all heads together.
TensorShape head_norm_of(C c, const AttentionSpec& a, int heads) {
    if (a.qk_norm == QkNorm::own_weights) return {heads, a.d_head};
    if (a.qk_norm == QkNorm::unweighted) return {a.d_head};
    TensorShape shape =
        norm_of(c, a.qk_norm != QkNorm::none, a.qk_norm == QkNorm::whole ? heads * a.d_head : a.d_head);
    shape.bias &= a.qk_norm_bias;
    return shape;
}

/// Returns the shape of a layer's projection of distances, unless those of q and k serve.
TensorShape relative_of(C c, const AttentionSpec& a, bool DisentangledSpec::*term, bool bias) {
    const auto& spec = a.disentangled;
    return spec && !spec->shared && (*spec).*term ? TensorShape{width_of_q(a), c.d_model, bias}
                                                  : TensorShape{};
}

TensorShape cross_of(C c, S s, L l, int64_t (*width)(const AttentionSpec&)) {
    return s.cross() ? TensorShape{width(*l.second), c.d_model, l.second->bias} : TensorShape{};
}

int64_t channels_of(const AttentionSpec& a) { return width_of_q(a) + width_of_k(a) + width_of_v(a); }

/// Returns the shape of each parameter of xIELU.
TensorShape xielu_of(L l) { return TensorShape{l.mlp.activation == Activation::xielu ? 1 : 0}; }

// Follows the order of Slot.
const SlotRow kSlots[] = {
    {Slot::token_embedding, OwnedBy::stack,
     [](C c, S s, L) {
         return TensorShape{s.vocab, c.d_embed};
     },
     [](W w) -> Linear& { return w.stack.token_embedding; }},
    {Slot::position_embedding, OwnedBy::stack,
     [](C c, S s, L) {
         const bool waves = c.positions == PositionScheme::sinusoidal && c.waves_stored;
         if (c.positions != PositionScheme::learned && !waves) return TensorShape{};
         return TensorShape{c.position_rows(s), c.d_model_positions ? c.d_model : c.d_embed};
     },
     [](W w) -> Linear& { return w.stack.position_embedding; }},
    {Slot::type_embedding, OwnedBy::stack,
     [](C c, S, L) {
         return TensorShape{c.token_types, c.d_embed};
     },
     [](W w) -> Linear& { return w.stack.type_embedding; }},
    {Slot::added_tables,
     OwnedBy::stack,
     [](C c, S, L) {
         return c.added_tables.empty() ? TensorShape{} : TensorShape{c.added_tables[0].rows, c.d_embed};
     },
     {}},
    {Slot::class_token, OwnedBy::model,
     [](C c, S, L) { return TensorShape{c.can.read_image ? c.d_model : 0}; },
     [](W w) -> const float*& { return w.model.class_token; }},
    {Slot::registers, OwnedBy::model,
     [](C c, S, L) {
         return c.vision.registers ? TensorShape{c.vision.registers, c.d_model} : TensorShape{};
     },
     [](W w) -> const float*& { return w.model.registers; }},
    {Slot::patch, OwnedBy::model,
     [](C c, S, L) {
         const int64_t pixels = int64_t{c.vision.channels} * c.vision.patch * c.vision.patch;
         return c.can.read_image ? TensorShape{c.d_model, pixels, true} : TensorShape{};
     },
     [](W w) -> Linear& { return w.model.patch; }},
    {Slot::embed_norm, OwnedBy::stack,
     [](C c, S, L) { return norm_of(c, c.embed_norm, c.embed_norm_width()); },
     [](W w) -> Norm& { return w.stack.embed_norm; }},
    {Slot::embed_project, OwnedBy::stack,
     [](C c, S, L) {
         int64_t reads = c.d_embed;
         for (const JoinedTable& table : c.joined_tables) reads += table.width;
         const bool bias = (!c.d_model_positions || !c.joined_tables.empty()) && !c.norm_projected;
         return c.projects_embedding() ? TensorShape{c.d_model, reads, bias} : TensorShape{};
     },
     [](W w) -> Linear& { return w.stack.embed_project; }},
    {Slot::joined_tables,
     OwnedBy::stack,
     [](C c, S, L) {
         return c.joined_tables.empty() ? TensorShape{}
                                        : TensorShape{c.joined_tables[0].rows, c.joined_tables[0].width};
     },
     {}},
    {Slot::relative_embedding, OwnedBy::stack,
     [](C c, S, L l) {
         const auto& spec = l.attention.disentangled;
         return spec ? TensorShape{2 * int64_t{spec->span}, c.d_model} : TensorShape{};
     },
     [](W w) -> Linear& { return w.stack.relative_embedding; }},
    {Slot::relative_norm, OwnedBy::stack,
     [](C c, S, L l) {
         const auto& spec = l.attention.disentangled;
         return norm_of(c, spec && spec->norm);
     },
     [](W w) -> Norm& { return w.stack.relative_norm; }},
    {Slot::attn_norm, OwnedBy::attention,
     [](C c, S, L l) { return norm_of(c, l.attention.norm && l.norms != NormPlace::output); },
     [](W w) -> Norm& { return w.attention->norm; }},
    {Slot::qkv,
     OwnedBy::attention,
     [](C c, S, L l) {
         return is_convolution(l) || is_selective(l.attention)
                    ? TensorShape{}
                    : read_of(c, l.attention, channels_of(l.attention));
     },
     {}},
    {Slot::q_gate,
     OwnedBy::attention,
     [](C c, S, L l) {
         const AttentionSpec& a = l.attention;
         return a.gate && !a.recurrence ? TensorShape{2 * width_of_q(a), c.d_model, a.bias} : TensorShape{};
     },
     {}},
    {Slot::mixer_in,
     OwnedBy::attention,
     [](C c, S, L l) {
         const AttentionSpec& a = l.attention;
         return a.recurrence ? TensorShape{RecurrenceChannels::of(a).count() + width_of_z(a) +
                                               (a.recurrence->is_state_space() ? a.heads : 0),
                                           c.d_model, a.bias}
                             : TensorShape{};
     },
     {}},
    {Slot::mixer_rates,
     OwnedBy::attention,
     [](C c, S, L l) {
         const auto& r = l.attention.recurrence;
         return r && r->kind == RecurrenceSpec::Kind::delta_rule
                    ? TensorShape{2 * int64_t{l.attention.heads}, c.d_model}
                    : TensorShape{};
     },
     {}},
    {Slot::q_down, OwnedBy::attention,
     [](C c, S, L l) {
         const auto& latent = l.attention.latent;
         return latent ? TensorShape{latent->q_rank, c.d_model, latent->bias} : TensorShape{};
     },
     [](W w) -> Linear& { return w.attention->latent.q_down; }},
    {Slot::q_down_norm, OwnedBy::attention,
     [](C c, S, L l) {
         const auto& latent = l.attention.latent;
         return latent && latent->q_rank ? norm_of(c, true, latent->q_rank) : TensorShape{};
     },
     [](W w) -> Norm& { return w.attention->latent.q_norm; }},
    {Slot::q, OwnedBy::attention,
     [](C c, S, L l) {
         const auto& latent = l.attention.latent;
         return TensorShape{width_of_q(l.attention), latent && latent->q_rank ? latent->q_rank : c.d_model,
                            l.attention.bias};
     },
     [](W w) -> Linear& { return w.attention->q; }},
    {Slot::kv_down, OwnedBy::attention,
     [](C c, S, L l) {
         const auto& latent = l.attention.latent;
         return latent ? TensorShape{latent->kv_rank + latent->d_shared, c.d_model, latent->bias}
                       : TensorShape{};
     },
     [](W w) -> Linear& { return w.attention->latent.kv_down; }},
    {Slot::kv_down_norm, OwnedBy::attention,
     [](C c, S, L l) {
         const auto& latent = l.attention.latent;
         return latent ? norm_of(c, true, latent->kv_rank) : TensorShape{};
     },
     [](W w) -> Norm& { return w.attention->latent.kv_norm; }},
    {Slot::kv_up, OwnedBy::attention,
     [](C, S, L l) {
         const AttentionSpec& a = l.attention;
         if (!a.latent) return TensorShape{};
         return TensorShape{a.heads * int64_t{a.latent->d_own(a.d_head) + a.value_width()},
                            a.latent->kv_rank};
     },
     [](W w) -> Linear& { return w.attention->latent.kv_up; }},
    {Slot::k, OwnedBy::attention,
     [](C c, S, L l) {
         TensorShape shape = read_of(c, l.attention, width_of_k(l.attention));
         shape.bias = shape.bias && l.attention.key_bias;
         return shape;
     },
     [](W w) -> Linear& { return w.attention->k; }},
    {Slot::v, OwnedBy::attention,
     [](C c, S, L l) {
         return l.attention.keys_as_values ? TensorShape{} : read_of(c, l.attention, width_of_v(l.attention));
     },
     [](W w) -> Linear& { return w.attention->v; }},
    {Slot::q_bias, OwnedBy::attention,
     [](C, S, L l) { return TensorShape{l.attention.qv_bias ? width_of_q(l.attention) : 0}; },
     [](W w) -> const float*& { return w.attention->q.bias; }},
    {Slot::v_bias, OwnedBy::attention,
     [](C, S, L l) { return TensorShape{l.attention.qv_bias ? width_of_v(l.attention) : 0}; },
     [](W w) -> const float*& { return w.attention->v.bias; }},
    {Slot::o, OwnedBy::attention,
     [](C c, S, L l) {
         return TensorShape{c.d_model, width_of_z(l.attention), l.attention.output_bias};
     },
     [](W w) -> Linear& { return w.attention->o; }},
    {Slot::o_bias, OwnedBy::attention,
     [](C c, S, L l) { return TensorShape{l.attention.bias_apart ? c.d_model : 0}; },
     [](W w) -> const float*& { return w.attention->o.bias; }},
    {Slot::attn_gate, OwnedBy::attention,
     [](C c, S, L l) {
         const AttentionSpec& a = l.attention;
         const bool by_head = a.gate.width == AttentionGate::Width::head;
         return a.gate ? TensorShape{by_head ? a.heads : width_of_z(a), c.d_model} : TensorShape{};
     },
     [](W w) -> Linear& { return w.attention->gate; }},
    {Slot::sinks, OwnedBy::attention,
     [](C, S, L l) { return TensorShape{l.attention.sinks ? l.attention.heads : 0}; },
     [](W w) -> const float*& { return w.attention->sinks; }},
    {Slot::relative_key, OwnedBy::attention,
     [](C c, S, L l) {
         const auto& spec = l.attention.disentangled;
         return relative_of(c, l.attention, &DisentangledSpec::to_position, spec && spec->key_bias);
     },
     [](W w) -> Linear& { return w.attention->relative_key; }},
    {Slot::relative_query, OwnedBy::attention,
     [](C c, S, L l) { return relative_of(c, l.attention, &DisentangledSpec::from_position, true); },
     [](W w) -> Linear& { return w.attention->relative_query; }},
    {Slot::q_norm, OwnedBy::attention,
     [](C c, S, L l) { return head_norm_of(c, l.attention, l.attention.heads); },
     [](W w) -> Norm& { return w.attention->q_norm; }},
    {Slot::k_norm, OwnedBy::attention,
     [](C c, S, L l) {
         return l.attention.makes_keys() ? head_norm_of(c, l.attention, l.attention.kv_heads) : TensorShape{};
     },
     [](W w) -> Norm& { return w.attention->k_norm; }},
    {Slot::v_norm, OwnedBy::attention,
     [](C, S, L l) {
         const AttentionSpec& a = l.attention;
         return TensorShape{a.value_norm && a.makes_keys() ? a.value_width() : 0};
     },
     [](W w) -> Norm& { return w.attention->v_norm; }},
    {Slot::attn_post_norm, OwnedBy::attention, [](C c, S, L l) { return norm_of(c, l.norms_output()); },
     [](W w) -> Norm& { return w.attention->post_norm; }},
    {Slot::attn_scale,
     OwnedBy::layer,
     [](C c, S, L l) { return TensorShape{l.layer_scale ? c.d_model : 0}; },
     {}},
    {Slot::cross_norm, OwnedBy::layer, [](C c, S s, L) { return norm_of(c, s.cross()); },
     [](W w) -> Norm& { return w.layer->second.norm; }},
    {Slot::cross_q, OwnedBy::layer, [](C c, S s, L l) { return cross_of(c, s, l, width_of_q); },
     [](W w) -> Linear& { return w.layer->second.q; }},
    {Slot::cross_k, OwnedBy::layer, [](C c, S s, L l) { return cross_of(c, s, l, width_of_k); },
     [](W w) -> Linear& { return w.layer->second.k; }},
    {Slot::cross_v, OwnedBy::layer, [](C c, S s, L l) { return cross_of(c, s, l, width_of_v); },
     [](W w) -> Linear& { return w.layer->second.v; }},
    {Slot::cross_o, OwnedBy::layer,
     [](C c, S s, L l) {
         return s.cross() ? TensorShape{c.d_model, width_of_z(*l.second), l.second->output_bias}
                          : TensorShape{};
     },
     [](W w) -> Linear& { return w.layer->second.o; }},
    {Slot::cross_post_norm, OwnedBy::layer,
     [](C c, S s, L l) { return norm_of(c, s.cross() && l.norms_output()); },
     [](W w) -> Norm& { return w.layer->second.post_norm; }},
    {Slot::mlp_norm, OwnedBy::layer,
     [](C c, S, L l) { return norm_of(c, !l.shared_norm && l.norms != NormPlace::output && !l.mlp.none()); },
     [](W w) -> Norm& { return w.layer->mlp_norm; }},
    {Slot::gate_up,
     OwnedBy::layer,
     [](C c, S, L l) {
         return l.mlp.gated ? TensorShape{2 * int64_t{l.mlp.width}, c.d_model, l.mlp.has_in_bias()}
                            : TensorShape{};
     },
     {}},
    {Slot::gate, OwnedBy::layer,
     [](C c, S, L l) {
         return l.mlp.gated ? TensorShape{l.mlp.width, c.d_model, l.mlp.has_in_bias()} : TensorShape{};
     },
     [](W w) -> Linear& { return w.layer->mlp_gate; }},
    {Slot::up, OwnedBy::layer,
     [](C c, S, L l) {
         return TensorShape{l.mlp.width, c.d_model, l.mlp.has_in_bias()};
     },
     [](W w) -> Linear& { return w.layer->mlp_in; }},
    {Slot::down, OwnedBy::layer,
     [](C c, S, L l) {
         return l.mlp.width ? TensorShape{c.d_model, l.mlp.width, l.mlp.bias} : TensorShape{};
     },
     [](W w) -> Linear& { return w.layer->mlp_out; }},
    {Slot::xielu_positive, OwnedBy::layer, [](C, S, L l) { return xielu_of(l); },
     [](W w) -> const float*& { return w.layer->xielu.positive; }},
    {Slot::xielu_negative, OwnedBy::layer, [](C, S, L l) { return xielu_of(l); },
     [](W w) -> const float*& { return w.layer->xielu.negative; }},
    {Slot::xielu_beta, OwnedBy::layer, [](C, S, L l) { return xielu_of(l); },
     [](W w) -> const float*& { return w.layer->xielu.beta; }},
    {Slot::xielu_end, OwnedBy::layer, [](C, S, L l) { return xielu_of(l); },
     [](W w) -> const float*& { return w.layer->xielu.end; }},
    {Slot::mlp_post_norm, OwnedBy::layer,
     [](C c, S, L l) { return norm_of(c, l.norms_mlp_output() && !l.mlp.none()); },
     [](W w) -> Norm& { return w.layer->mlp_post_norm; }},
    {Slot::mlp_scale,
     OwnedBy::layer,
     [](C c, S, L l) { return TensorShape{l.layer_scale ? c.d_model : 0}; },
     {}},
    {Slot::convolution, OwnedBy::layer,
     [](C c, S, L l) {
         return l.convolution ? TensorShape{c.d_model, int64_t{l.convolution->kernel} * c.d_model, true}
                              : TensorShape{};
     },
     [](W w) -> Linear& { return w.layer->convolution; }},
    {Slot::convolution_norm, OwnedBy::layer,
     [](C c, S, L l) { return norm_of(c, l.convolution.has_value()); },
     [](W w) -> Norm& { return w.layer->convolution_norm; }},
    {Slot::relative_bias, OwnedBy::layer,
     [](C c, S, L l) {
         return TensorShape{c.buckets.count, l.attention.heads};
     },
     [](W w) -> const float*& { return w.layer->relative_bias; }},
    {Slot::final_norm, OwnedBy::stack,
     [](C c, S, L) {
         TensorShape shape = norm_of(c, c.final_norm);
         shape.bias &= c.final_norm_bias;
         return shape;
     },
     [](W w) -> Norm& { return w.stack.final_norm; }},
    {Slot::head_dense, OwnedBy::model,
     [](C c, S, L) {
         return c.mlm_head || c.project_positions()
                    ? TensorShape{c.unembedding_width(), c.d_model, c.mlm_head && c.head_dense_bias}
                    : TensorShape{};
     },
     [](W w) -> Linear& { return w.model.head_dense; }},
    {Slot::head_norm, OwnedBy::model, [](C c, S, L) { return norm_of(c, c.mlm_head, c.unembedding_width()); },
     [](W w) -> Norm& { return w.model.head_norm; }},
    {Slot::unembedding, OwnedBy::model,
     [](C c, S, L) {
         return TensorShape{c.vocab, c.unembedding_width()};
     },
     [](W w) -> Linear& { return w.model.unembedding; }},
    {Slot::unembedding_bias, OwnedBy::model, [](C c, S, L) { return TensorShape{c.vocab}; }, {}},
    {Slot::contact, OwnedBy::model,
     [](C c, S, L) {
         return TensorShape{1, c.head_count(), true};
     },
     [](W w) -> Linear& { return w.model.contact; }},
};

}  // namespace

std::span<const SlotRow> slots() {
    static const std::vector<SlotRow> all = [] {
        std::vector<SlotRow> rows(std::begin(kSlots), std::end(kSlots));
        rows.insert(rows.end(), later_slots().begin(), later_slots().end());
        return rows;
    }();
    return all;
}

const SlotRow& slot_row(Slot slot) { return row_of(slots(), slot); }

}  // namespace headlight
