// Tabulates the tensors of mixtures of experts, of the vectors that a layer alone reads, and of recurrences.
#include "model/loading/slots.h"
#include "model/mixers/recurrence.h"

namespace headlight {

namespace {

using C = const ModelConfig&;
using S = const StackConfig&;
using L = const LayerSpec&;
using W = const TensorOwner&;

/// Returns the shape of a vector, or a norm, of what readers of a layer's rows have apart.
TensorShape apart_of(C c, L l) { return TensorShape{l.mlp.experts && l.mlp.experts->apart ? c.d_model : 0}; }

int64_t stream_count(S s) { return s.streams ? s.streams->count : 0; }
/// Returns the shape of the matrices of all streams but the first, one below the other.
TensorShape beside_of(C c, S s) {
    return s.streams ? TensorShape{(stream_count(s) - 1) * c.d_model, c.d_model} : TensorShape{};
}
/// Returns the shape of what makes `times` coefficients for each stream.
TensorShape coefficients_of(S s, int64_t times) {
    return s.streams ? TensorShape{times * stream_count(s), stream_count(s)} : TensorShape{};
}

using Kind = RecurrenceSpec::Kind;
bool mixes_by(L l, Kind kind) { return l.attention.recurrence && l.attention.recurrence->kind == kind; }
bool is_selective(L l) { return mixes_by(l, Kind::selective); }

/// Returns the shape of a matrix of a recurrence that makes one number for each head.
TensorShape rates_of(C c, L l, bool present) {
    return present ? TensorShape{l.attention.heads, c.d_model, l.attention.bias} : TensorShape{};
}

bool has_rates(L l) { return l.attention.recurrence && !l.attention.recurrence->is_convolution(); }

/// Returns the shape of what a recurrence has for each head.
TensorShape each_head_of(L l, bool present) { return TensorShape{present ? l.attention.heads : 0}; }

/// Returns the shape of a norm of a selective state space's steps, keys or queries.
TensorShape state_norm_of(L l, int64_t width) {
    const bool weighted = is_selective(l) && l.attention.recurrence->norms == RecurrenceSpec::Norms::weighted;
    return TensorShape{weighted ? width : 0};
}

// Follows the order of Slot, from Slot::router on.
const SlotRow kLaterSlots[] = {
    {Slot::router, OwnedBy::layer,
     [](C c, S, L l) {
         const auto& experts = l.mlp.experts;
         return experts ? TensorShape{experts->count, c.d_model, experts->router_bias} : TensorShape{};
     },
     [](W w) -> Linear& { return w.layer->router; }},
    {Slot::router_bias, OwnedBy::layer,
     [](C, S, L l) {
         return l.mlp.experts && l.mlp.experts->choice_bias ? TensorShape{l.mlp.experts->count}
                                                            : TensorShape{};
     },
     [](W w) -> const float*& { return w.layer->router_bias; }},
    {Slot::shared_gate, OwnedBy::layer,
     [](C c, S, L l) {
         return l.mlp.experts && l.mlp.experts->shared_gate ? TensorShape{1, c.d_model} : TensorShape{};
     },
     [](W w) -> Linear& { return w.layer->shared_gate; }},
    {Slot::expert_gate_up,
     OwnedBy::expert,
     [](C c, S, L l) {
         return TensorShape{2 * int64_t{l.mlp.experts->width}, c.d_model, l.mlp.experts->bias};
     },
     {}},
    {Slot::expert_gate, OwnedBy::expert,
     [](C c, S, L l) {
         return TensorShape{l.mlp.experts->width, c.d_model, l.mlp.experts->bias};
     },
     [](W w) -> Linear& { return w.expert->gate; }},
    {Slot::expert_up, OwnedBy::expert,
     [](C c, S, L l) {
         return TensorShape{l.mlp.experts->width, c.d_model, l.mlp.experts->bias};
     },
     [](W w) -> Linear& { return w.expert->in; }},
    {Slot::expert_down, OwnedBy::expert,
     [](C c, S, L l) {
         return TensorShape{c.d_model, l.mlp.experts->width, l.mlp.experts->bias};
     },
     [](W w) -> Linear& { return w.expert->out; }},
    {Slot::expert_scales, OwnedBy::layer,
     [](C, S, L l) {
         return TensorShape{l.mlp.experts && l.mlp.experts->own_scales ? l.mlp.experts->count : 0};
     },
     [](W w) -> const float*& { return w.layer->expert_scales; }},
    {Slot::shared_reads, OwnedBy::layer, [](C c, S, L l) { return apart_of(c, l); },
     [](W w) -> const float*& { return w.layer->apart.shared_reads; }},
    {Slot::experts_read, OwnedBy::layer, [](C c, S, L l) { return apart_of(c, l); },
     [](W w) -> const float*& { return w.layer->apart.experts_read; }},
    {Slot::router_reads, OwnedBy::layer, [](C c, S, L l) { return apart_of(c, l); },
     [](W w) -> const float*& { return w.layer->apart.router_reads; }},
    {Slot::shared_post_norm, OwnedBy::layer, [](C c, S, L l) { return apart_of(c, l); },
     [](W w) -> Norm& { return w.layer->apart.shared_norm; }},
    {Slot::experts_post_norm, OwnedBy::layer, [](C c, S, L l) { return apart_of(c, l); },
     [](W w) -> Norm& { return w.layer->apart.experts_norm; }},
    {Slot::layer_table, OwnedBy::stack,
     [](C, S s, L l) {
         return l.embedding ? TensorShape{l.embedding->vocab, int64_t{s.depth()} * l.embedding->width}
                            : TensorShape{};
     },
     [](W w) -> Linear& { return w.stack.layer_table; }},
    {Slot::layer_project, OwnedBy::stack,
     [](C c, S s, L l) {
         return l.embedding ? TensorShape{int64_t{s.depth()} * l.embedding->width, c.d_model} : TensorShape{};
     },
     [](W w) -> Linear& { return w.stack.layer_project; }},
    {Slot::layer_project_norm, OwnedBy::stack,
     [](C, S, L l) { return TensorShape{l.embedding ? l.embedding->width : 0}; },
     [](W w) -> Norm& { return w.stack.layer_project_norm; }},
    {Slot::layer_embed_gate, OwnedBy::layer,
     [](C c, S, L l) {
         return l.embedding ? TensorShape{l.embedding->width, c.d_model} : TensorShape{};
     },
     [](W w) -> Linear& { return w.layer->embedding.gate; }},
    {Slot::layer_embed_out, OwnedBy::layer,
     [](C c, S, L l) {
         return l.embedding ? TensorShape{c.d_model, l.embedding->width} : TensorShape{};
     },
     [](W w) -> Linear& { return w.layer->embedding.out; }},
    {Slot::layer_embed_norm, OwnedBy::layer,
     [](C c, S, L l) { return TensorShape{l.embedding ? c.d_model : 0}; },
     [](W w) -> Norm& { return w.layer->embedding.norm; }},
    {Slot::output_scale, OwnedBy::layer, [](C, S, L l) { return TensorShape{l.output_scale ? 1 : 0}; },
     [](W w) -> const float*& { return w.layer->output_scale; }},
    {Slot::streams_enter, OwnedBy::stack, [](C c, S s, L) { return beside_of(c, s); },
     [](W w) -> Linear& { return w.stack.streams_enter; }},
    {Slot::streams_leave, OwnedBy::stack, [](C c, S s, L) { return beside_of(c, s); },
     [](W w) -> Linear& { return w.stack.streams_leave; }},
    {Slot::streams_norm, OwnedBy::layer, [](C c, S s, L) { return TensorShape{s.streams ? c.d_model : 0}; },
     [](W w) -> Norm& { return w.layer->streams.router_norm; }},
    {Slot::streams_router, OwnedBy::layer,
     [](C c, S s, L) {
         return s.streams ? TensorShape{s.streams->count, c.d_model} : TensorShape{};
     },
     [](W w) -> Linear& { return w.layer->streams.router; }},
    {Slot::streams_predict, OwnedBy::layer, [](C, S s, L) { return coefficients_of(s, stream_count(s)); },
     [](W w) -> Linear& { return w.layer->streams.predict; }},
    {Slot::streams_correct, OwnedBy::layer, [](C, S s, L) { return coefficients_of(s, 1); },
     [](W w) -> Linear& { return w.layer->streams.correct; }},
    {Slot::streams_scale, OwnedBy::layer, [](C c, S s, L) { return TensorShape{s.streams ? c.d_model : 0}; },
     [](W w) -> const float*& { return w.layer->streams.scale; }},
    {Slot::laurel_down, OwnedBy::layer,
     [](C c, S, L l) {
         return l.laurel_rank ? TensorShape{l.laurel_rank, c.d_model} : TensorShape{};
     },
     [](W w) -> Linear& { return w.layer->laurel.down; }},
    {Slot::laurel_up, OwnedBy::layer,
     [](C c, S, L l) {
         return l.laurel_rank ? TensorShape{c.d_model, l.laurel_rank} : TensorShape{};
     },
     [](W w) -> Linear& { return w.layer->laurel.up; }},
    {Slot::laurel_norm, OwnedBy::layer,
     [](C c, S, L l) { return TensorShape{l.laurel_rank ? c.d_model : 0}; },
     [](W w) -> Norm& { return w.layer->laurel.norm; }},
    {Slot::gate_norm, OwnedBy::attention,
     [](C, S, L l) {
         const AttentionGate& gate = l.attention.gate;
         const int64_t z = int64_t{l.attention.heads} * l.attention.value_width();
         return TensorShape{gate.norms == 0 ? 0 : gate.norm_shared ? z / gate.norms : z};
     },
     [](W w) -> const float*& { return w.attention->gate_norm; }},
    {Slot::decay, OwnedBy::attention,
     [](C c, S, L l) {
         return is_selective(l) ? TensorShape{l.attention.heads, l.attention.recurrence->step_rank, true}
                                : rates_of(c, l, has_rates(l));
     },
     [](W w) -> Linear& { return w.attention->recurrence.decay; }},
    {Slot::strength, OwnedBy::attention,
     [](C c, S, L l) { return rates_of(c, l, mixes_by(l, Kind::delta_rule)); },
     [](W w) -> Linear& { return w.attention->recurrence.strength; }},
    {Slot::decay_rate, OwnedBy::attention,
     [](C, S, L l) {
         return is_selective(l) ? TensorShape{l.attention.heads, l.attention.d_head}
                                : each_head_of(l, has_rates(l));
     },
     [](W w) -> const float*& { return w.attention->recurrence.decay_rate; }},
    {Slot::step_bias, OwnedBy::attention,
     [](C, S, L l) { return each_head_of(l, has_rates(l) && !is_selective(l)); },
     [](W w) -> const float*& { return w.attention->recurrence.step_bias; }},
    {Slot::skip, OwnedBy::attention,
     [](C, S, L l) { return each_head_of(l, mixes_by(l, Kind::state_space) || is_selective(l)); },
     [](W w) -> const float*& { return w.attention->recurrence.skip; }},
    {Slot::mixer_kernel, OwnedBy::attention,
     [](C, S, L l) {
         const auto& r = l.attention.recurrence;
         return r ? TensorShape{RecurrenceChannels::of(l.attention).convolved(), r->kernel} : TensorShape{};
     },
     [](W w) -> const float*& { return w.attention->recurrence.kernel; }},
    {Slot::mixer_kernel_bias, OwnedBy::attention,
     [](C, S, L l) {
         const auto& r = l.attention.recurrence;
         return r && r->kernel_bias ? TensorShape{RecurrenceChannels::of(l.attention).convolved()}
                                    : TensorShape{};
     },
     [](W w) -> const float*& { return w.attention->recurrence.kernel_bias; }},
    {Slot::mixer_states, OwnedBy::attention,
     [](C, S, L l) {
         const AttentionSpec& a = l.attention;
         return is_selective(l) ? TensorShape{a.recurrence->step_rank + 2 * int64_t{a.d_head}, a.heads}
                                : TensorShape{};
     },
     [](W w) -> Linear& { return w.attention->recurrence.states; }},
    {Slot::step_norm, OwnedBy::attention,
     [](C, S, L l) {
         return state_norm_of(l, l.attention.recurrence ? l.attention.recurrence->step_rank : 0);
     },
     [](W w) -> Norm& { return w.attention->recurrence.step_norm; }},
    {Slot::key_norm, OwnedBy::attention, [](C, S, L l) { return state_norm_of(l, l.attention.d_head); },
     [](W w) -> Norm& { return w.attention->recurrence.key_norm; }},
    {Slot::query_norm, OwnedBy::attention, [](C, S, L l) { return state_norm_of(l, l.attention.d_head); },
     [](W w) -> Norm& { return w.attention->recurrence.query_norm; }},
};

}  // namespace

std::span<const SlotRow> later_slots() { return kLaterSlots; }

void each_matrix(ModelWeights& weights, const SeeMatrix& see) {
    const auto add = [&](std::initializer_list<OwnedBy> owners, const TensorOwner& of, SlotPlace at) {
        for (const SlotRow& row : slots())
            if (const auto place = std::get_if<Linear& (*)(const TensorOwner&)>(&row.place);
                place && contains(owners, row.owner))
                see(row.slot, (*place)(of), at);
    };
    add({OwnedBy::model}, {weights, weights.stacks.front()}, {-1});
    for (int s = 0; s < isize(weights.stacks); ++s) {
        StackWeights& stack = weights.stacks[s];
        add({OwnedBy::stack}, {weights, stack}, {s});
        for (int l = 0; l < isize(stack.layers); ++l) {
            LayerWeights& layer = stack.layers[l];
            add({OwnedBy::layer, OwnedBy::attention}, {weights, stack, &layer, nullptr, &layer.self}, {s, l});
            if (layer.second.recurrence.decay)  // a mixer: cross-attention has slots of its own
                add({OwnedBy::attention}, {weights, stack, &layer, nullptr, &layer.second}, {s, l, -1, true});
            for (ExpertWeights& expert : layer.experts)
                add({OwnedBy::expert}, {weights, stack, &layer, &expert}, {s, l});
        }
    }
}

std::vector<Linear*> matrices_of(ModelWeights& weights, bool tables) {
    constexpr Slot kTables[] = {
        Slot::token_embedding, Slot::position_embedding, Slot::type_embedding, Slot::relative_embedding,
        Slot::relative_key,    Slot::relative_query,     Slot::layer_table,    Slot::contact};
    std::vector<Linear*> out;
    each_matrix(weights, [&](Slot slot, Linear& w, SlotPlace) {
        if (tables || !contains(kTables, slot)) out.push_back(&w);
    });
    return out;
}

}  // namespace headlight
