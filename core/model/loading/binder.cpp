// Binds tensors to a model's weights, slot by slot.
#include "model/loading/binder.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/check.h"
#include "model/loading/adapter_experts.h"
#include "model/loading/made_tensors.h"
#include "model/loading/named_tensors.h"
#include "model/mixers/latent.h"
#include "model/mixers/recurrence.h"

namespace headlight {

namespace {

/// Binds what the configuration calls for, layer by layer.
class Binder : NamedTensors {
public:
    using NamedTensors::NamedTensors;
    Result<ModelWeights> bind();

private:
    LayerSpec layer_of(SlotPlace at) const;
    void multiply(AttentionWeights& w, const Multipliers& times);
    void bind_attention(const TensorOwner& owner, SlotPlace at);
    void bind_layer(const TensorOwner& owner, SlotPlace at);
    void bind_experts(const TensorOwner& owner, SlotPlace at);
    void bind_slot(const SlotRow& slot, const TensorOwner& owner, SlotPlace at);
    void bind_parts(const TensorRow& row, const TensorShape& shape, const TensorOwner& owner, SlotPlace at);
    void add_first_rows(StackWeights& to, SlotPlace at);
    void join_first_rows(StackWeights& to, SlotPlace at);
    void scale_outputs(LayerWeights& layer, float scale);
    const float* bind_vector(const SlotRow& slot, const TensorShape& shape, SlotPlace at);
    const float* kernels_of_parts(const std::vector<std::string>& names, const AttentionSpec& spec);
    void bind_head(ModelWeights& weights, const TensorOwner& owner);
    void bind_unembedding(ModelWeights& weights, SlotPlace at);
    Linear keys_and_values(std::string name, const AttentionSpec& spec);
    Linear embedding(int stack);
    Linear shared_embedding();
};

/// Returns the table of a stack: its own, one that all stacks share, or the unembedding tied to it.
Linear Binder::embedding(int stack) {
    std::vector<std::string> all;
    for (const TensorRow* row : rows(Slot::token_embedding, {stack}))
        if (c_.shared_embedding || std::strchr(row->name, '@')) all.push_back(expanded(*row, {stack}));
    if (c_.tied_unembedding && (c_.shared_embedding || stack + 1 == isize(c_.stacks)))
        for (const std::string& name : names(Slot::unembedding, {stack})) all.push_back(name);
    return tied_table(all, c_.stacks[stack].vocab, c_.d_embed);
}

/// Returns the table that the unembedding is tied to.
Linear Binder::shared_embedding() {
    const int last = isize(c_.stacks) - 1;
    if (!c_.shared_embedding || last == 0) return embedding(last);
    std::vector<std::string> all;
    for (const TensorRow* row : rows(Slot::token_embedding, {last}))
        if (!std::strchr(row->name, '@')) all.push_back(expanded(*row, {last}));
    for (const std::string& name : names(Slot::unembedding, {last}))
        if (c_.tied_unembedding) all.push_back(name);
    return tied_table(all, c_.vocab, c_.d_embed);
}

/// Joins kernels, wherever they are cut: transformers writes thirds.
const float* Binder::kernels_of_parts(const std::vector<std::string>& names, const AttentionSpec& spec) {
    const int64_t kernel = spec.recurrence->kernel;
    int64_t left = RecurrenceChannels::of(spec).count();
    float* const out = store_.make(left * kernel);
    for (float* to = out; const std::string& name : names) {
        const StoredTensor* stored = store_.find(name);
        int64_t channels = left;  // of the last; a wrong shape is vector()'s error
        if (name != names.back() && stored && !stored->shape.empty())
            channels = std::clamp<int64_t>(stored->shape[0], 0, left);
        if (const float* own = vector(name, {channels, 1, kernel}))
            to = std::copy_n(own, channels * kernel, to);
        left -= channels;
    }
    return out;
}

/// Binds the parts of a tensor that holds several, or adds it to another one.
void Binder::bind_parts(const TensorRow& row, const TensorShape& shape, const TensorOwner& owner,
                        SlotPlace at) {
    const LayerSpec layer = layer_of(at);
    const auto whole = [&] { return linear(row, names(row.slot, at), shape); };
    if (row.slot == Slot::qkv) {
        const bool other =
            !rows(Slot::q, at).empty() || (!layer.attention.recurrence && !rows(Slot::q_gate, at).empty());
        if (has(row.slot, at, ".weight") || !other)
            split_qkv(store_, *owner.attention, whole(), layer.attention, row.stored);
    } else if (row.slot == Slot::q_gate) {
        const Linear both = whole();
        const int64_t d = layer.attention.d_head;
        if (both) owner.attention->q = part_of_groups(store_, both, 0, d, layer.attention.heads);
        if (both) owner.attention->gate = part_of_groups(store_, both, d, d, layer.attention.heads);
    } else if (row.slot == Slot::mixer_in || row.slot == Slot::mixer_rates) {
        const bool delta = layer.attention.recurrence->kind == RecurrenceSpec::Kind::delta_rule,
                   may_lack = row.slot == Slot::mixer_rates || delta,
                   fits = !delta || row.slot == Slot::mixer_rates || row.stored == Stored::by_key_head;
        if (fits && (!store_.is_gguf() || !may_lack || has(row.slot, at, ".weight")))
            split_mixer(store_, *owner.attention, whole(), layer.attention, row.slot, row.stored);
    } else if (row.slot == Slot::gate_up) {
        if (!has(row.slot, at, ".weight") && !rows(Slot::gate, at).empty()) return;
        const Linear both = whole();
        const int64_t width = layer.mlp.width, up = row.stored == Stored::up_first ? 0 : width;
        if (both) owner.layer->mlp_gate = both.columns(width - up, width);
        if (both) owner.layer->mlp_in = both.columns(up, width);
    } else if (row.slot == Slot::added_tables) {
        add_first_rows(owner.stack, at);
    } else if (row.slot == Slot::joined_tables) {
        join_first_rows(owner.stack, at);
    } else if (row.slot == Slot::attn_scale || row.slot == Slot::mlp_scale) {
        Linear& scaled = row.slot == Slot::attn_scale ? owner.attention->o : owner.layer->mlp_out;
        const float* by = vector(stored_of(names(row.slot, at), ""), {shape.out});
        if (by) scaled = scaled_outputs(store_, scaled, by);
    }
}

/// Adds row 0 of each of the configuration's further tables, which the family names in their order, to the
/// types.
void Binder::add_first_rows(StackWeights& to, SlotPlace at) {
    const auto all = rows(Slot::added_tables, at);
    HEADLIGHT_CHECK(all.size() >= c_.added_tables.size());
    for (size_t i = 0; i < c_.added_tables.size(); ++i) {
        const AddedTable& table = c_.added_tables[i];
        const Linear w = linear(*all[i], {expanded(*all[i], at)}, {table.rows, c_.d_embed});
        for (int times = 0; times < table.times; ++times)
            to.type_embedding = plus_first_row(store_, to.type_embedding, w);
    }
}

/// Moves what the projection of embeddings makes of the rows 0 joined to them into its bias.
void Binder::join_first_rows(StackWeights& to, SlotPlace at) {
    const auto all = rows(Slot::joined_tables, at);
    HEADLIGHT_CHECK(all.size() >= c_.joined_tables.size());
    std::vector<Linear> tables;
    for (size_t i = 0; i < c_.joined_tables.size(); ++i) {
        const JoinedTable& table = c_.joined_tables[i];
        tables.push_back(linear(*all[i], {expanded(*all[i], at)}, {table.rows, table.width}));
    }
    if (error_.empty()) to.embed_project = without_joined(store_, to.embed_project, c_.d_embed, tables);
}

/// Joins what makes keys of a latent, which llama.cpp's converter transposes, and what makes values of it.
Linear Binder::keys_and_values(std::string name, const AttentionSpec& spec) {
    const int64_t own = spec.latent->d_own(spec.d_head), rank = spec.latent->kv_rank;
    const float* keys = vector(stored_of({name}, ".weight"), {spec.heads, rank, own});
    name.replace(name.rfind("k_b"), 3, "v_b");
    const float* values = vector(stored_of({name}, ".weight"), {spec.heads, spec.value_width(), rank});
    if (!keys || !values) return {};
    return joined_by_head(store_, keys, values, {spec.heads, own, spec.value_width(), rank});
}

/// Returns whether a norm has no weights where the model's others have.
bool lacks_weight(Slot slot, const LayerSpec& layer) {
    const bool of_heads = slot == Slot::q_norm || slot == Slot::k_norm;
    return slot == Slot::v_norm || (of_heads && layer.attention.qk_norm == QkNorm::unweighted) ||
           (slot == Slot::mlp_norm && layer.mlp.experts && layer.mlp.experts->apart);
}

void Binder::bind_slot(const SlotRow& slot, const TensorOwner& owner, SlotPlace at) {
    const auto all = rows(slot.slot, at);
    const StackConfig& stack = c_.stacks[at.stack];
    const LayerSpec layer = layer_of(at);
    const TensorShape shape = slot.shape(c_, stack, layer);
    if (!shape) return;
    const bool waves = slot.slot == Slot::position_embedding && c_.waves_stored;
    if (waves && !has(slot.slot, at, ".weight")) return;  // as computed
    const auto norm_place = std::get_if<Norm& (*)(const TensorOwner&)>(&slot.place);
    if (norm_place && (!c_.norm_weight || lacks_weight(slot.slot, layer))) {
        (*norm_place)(owner) = norm_without_weight(shape);
        return;
    }
    const auto fused = std::get_if<Linear& (*)(const TensorOwner&)>(&slot.place);
    if (all.empty()) {
        HEADLIGHT_CHECK(slot.place.index() == 0 || !error_.empty() || (fused && (*fused)(owner)));
        return;
    }
    const auto asked = names(slot.slot, at);
    if (slot.place.index() == 0) {
        bind_parts(*all[0], shape, owner, at);
    } else if (const auto place = std::get_if<Linear& (*)(const TensorOwner&)>(&slot.place)) {
        Linear& w = (*place)(owner);
        const bool apart = slot.slot == Slot::kv_up && asked.size() > 1 && has(asked[1] + ".weight");
        if (apart) w = keys_and_values(asked[1], layer.attention);
        if (!w) w = linear(*all[0], asked, shape);  // else split from a fused tensor
        if (all[0]->stored == Stored::by_head_turn && store_.is_gguf() && layer.attention.recurrence)
            w = slot.slot == Slot::o ? inputs_by_key_head(store_, w, layer.attention)
                                     : outputs_by_key_head(store_, w, layer.attention);
    } else if (norm_place) {
        const bool apart = all[0]->stored == Stored::each_row && !store_.is_gguf();
        (*norm_place)(owner) = apart ? norm_of_rows(asked[0], shape) : norm(asked, shape);
    } else if (const auto vector_place = std::get_if<const float*& (*)(const TensorOwner&)>(&slot.place)) {
        (*vector_place)(owner) = bind_vector(slot, shape, at);
    }
}

const float* Binder::bind_vector(const SlotRow& slot, const TensorShape& shape, SlotPlace at) {
    const auto all = rows(slot.slot, at);
    const auto asked = names(slot.slot, at);
    const LayerSpec layer = layer_of(at);
    const Stored stored = all[0]->stored;
    const float* values = all.back()->stored == Stored::kernels_apart && !has(asked[0])
                              ? kernels_of_parts({asked.end() - 3, asked.end()}, layer.attention)
                              : vector(stored_of(asked, ""), axes_of(shape, stored, layer));
    if (!values || !layer.attention.recurrence) return values;
    const auto made = recurrence_vector(store_, slot.slot, stored, values, layer.attention);
    if (!made) error_ = made.error().message;
    return made ? *made : nullptr;
}

/// Binds the MLPs of a mixture of experts.
void Binder::bind_experts(const TensorOwner& owner, SlotPlace at) {
    const StackConfig& stack = c_.stacks[at.stack];
    const LayerSpec& layer = stack.layers[at.layer];
    if (!layer.mlp.experts) return;
    owner.layer->experts.resize(layer.mlp.experts->count);
    for (at.expert = 0; at.expert < layer.mlp.experts->count; ++at.expert) {
        ExpertWeights& expert = owner.layer->experts[at.expert];
        for (const SlotRow& slot : slots()) {
            if (slot.owner != OwnedBy::expert) continue;
            const bool fused = slot.slot == Slot::expert_gate_up;
            const TensorRow* row = stored_row(slot.slot, at);
            if (!row || ((fused || slot.slot == Slot::expert_gate) && !layer.mlp.gated)) continue;
            // files of one family hold gate and up in one tensor, or in two
            const bool either = layer.mlp.gated && !rows(Slot::expert_gate_up, at).empty() &&
                                !rows(Slot::expert_gate, at).empty();
            const bool one = has(Slot::expert_gate_up, at, ".weight") || has(Slot::expert_gate_up, at, "");
            if (either && slot.slot != Slot::expert_down && fused != one) continue;
            const Linear w = expert_matrix(*row, {expanded(*row, at)}, slot.shape(c_, stack, layer), at);
            const int64_t width = layer.mlp.experts->width;
            if (fused && layer.mlp.experts->alternating) {
                expert.in = w;
            } else if (fused && w) {
                expert.gate = w.columns(0, width);
                expert.in = w.columns(width, width);
            } else if (!fused) {
                std::get<Linear& (*)(const TensorOwner&)>(slot.place)(
                    {owner.model, owner.stack, owner.layer, &expert}) = w;
            }
        }
        note(adapt_expert(store_, {at.layer, at.expert}, *layer.mlp.experts, expert));
        expert.out.scale = layer.residual_scale;
    }
}

/// Scales what attention and MLP add: by the norm that they leave through, or by their last matrix.
void Binder::scale_outputs(LayerWeights& layer, float scale) {
    if (scale == 1 || !error_.empty()) return;
    if (layer.self.post_norm) {
        layer.self.post_norm = scaled_norm(store_, layer.self.post_norm, c_.d_model, scale);
        layer.mlp_post_norm = scaled_norm(store_, layer.mlp_post_norm, c_.d_model, scale);
        return;
    }
    layer.self.o.scale *= scale;
    layer.mlp_out.scale *= scale;
}

/// Returns a layer, as a mixer beside its attention sees it: with that mixer in its place.
LayerSpec Binder::layer_of(SlotPlace at) const {
    LayerSpec out = c_.stacks[at.stack].layers[std::max(at.layer, 0)];
    if (at.second) out.attention = *out.second;
    return out;
}

/// Multiplies what a block reads, by its norm, and what its matrices make.
void Binder::multiply(AttentionWeights& w, const Multipliers& times) {
    if (times.input != 1 && w.norm) w.norm = scaled_norm(store_, w.norm, c_.d_model, times.input);
    w.q.scale *= times.query;
    w.k.scale *= times.key;
    w.v.scale *= times.value;
    w.gate.scale *= times.gate;
    w.recurrence.decay.scale *= times.step;
    w.o.scale *= times.output;
}

/// Binds attention, or a mixer beside it.
void Binder::bind_attention(const TensorOwner& owner, SlotPlace at) {
    for (const SlotRow& slot : slots())
        if (slot.owner == OwnedBy::attention) bind_slot(slot, owner, at);
    const AttentionSpec attention = layer_of(at).attention;
    AttentionWeights& w = *owner.attention;
    if (attention.stored_heads() != attention.heads && error_.empty()) {
        w.gate = repeated_outputs(store_, w.gate, attention.heads);
        w.o = repeated_inputs(store_, w.o, attention.heads);
    }
    w.latent.q_norm.eps = w.latent.kv_norm.eps = kLatentNormEps;
    if (error_.empty()) multiply(w, attention.times);
}

void Binder::bind_layer(const TensorOwner& owner, SlotPlace at) {
    const LayerSpec& spec = c_.stacks[at.stack].layers[at.layer];
    LayerWeights& layer = *owner.layer;
    bind_attention(owner, at);
    if (c_.stacks[at.stack].beside())
        bind_attention({owner.model, owner.stack, &layer, nullptr, &layer.second},
                       {at.stack, at.layer, -1, true});
    for (const SlotRow& slot : slots())
        if (slot.owner == OwnedBy::layer) bind_slot(slot, owner, at);
    if (spec.mlp.experts) layer.mlp_out.scale = spec.mlp.experts->shared_scale;
    if (spec.mlp.experts) layer.router.scale = spec.mlp.experts->router_scale;
    layer.mlp_gate.scale *= spec.mlp.gate_times;
    layer.mlp_out.scale *= spec.mlp.output_times;
    scale_outputs(layer, spec.residual_scale);
    bind_experts(owner, at);
    if (spec.shared_norm) layer.mlp_norm = layer.self.norm;
}

/// Points to the weights that make keys and values where the layer has none of its own.
void share_keys(const AttentionSpec& spec, const std::vector<LayerWeights>& layers, AttentionWeights& w) {
    if (!spec.makes_keys()) {
        const AttentionWeights& source = layers[spec.source].self;
        w.k = source.k;
        w.v = source.v;
        w.k_norm = source.k_norm;
        w.v_norm = source.v_norm;
    } else if (spec.keys_as_values) {
        w.v = w.k;
    }
}

/// Binds the head of a masked-language model, which base models and classifiers lack.
void Binder::bind_head(ModelWeights& weights, const TensorOwner& owner) {
    const SlotPlace last{isize(c_.stacks) - 1};
    if (!c_.predicts()) return;
    if (c_.mlm_head) {
        const bool stored =
            c_.head_bias ? has(Slot::unembedding_bias, last, "") : has(Slot::head_dense, last, ".weight");
        if (!stored || has("classifier.weight")) return;
    }
    for (const Slot slot : {Slot::head_dense, Slot::head_norm}) bind_slot(slot_row(slot), owner, last);
    bind_unembedding(weights, last);
}

/// Binds the unembedding: its own if it is stored, else the embedding if they are tied; absent in a base
/// model.
void Binder::bind_unembedding(ModelWeights& weights, SlotPlace at) {
    const StackConfig& stack = c_.stacks[at.stack];
    const TensorShape shape = slot_row(Slot::unembedding).shape(c_, stack, stack.layers[0]);
    Linear tied = c_.stacks[at.stack].vocab ? shared_embedding() : Linear();
    tied.adapter = nullptr;  // of the embedding alone
    Linear w = tied;
    const bool has_bias = has(Slot::unembedding_bias, at, ""), own = !c_.tied_unembedding && !c_.mlm_head;
    if (has(Slot::unembedding, at, ".weight") || (own && has_bias)) {  // a bias alone lacks its matrix
        w = linear(*rows(Slot::unembedding, at)[0], names(Slot::unembedding, at), shape);
        if (w && tied && same_values(w, tied)) w = tied;
    } else if (!c_.tied_unembedding) {
        return;
    }
    for (const std::string& name : names(Slot::unembedding, at)) note(store_.attach(name, w));
    const auto biases = names(Slot::unembedding_bias, at);
    if (!biases.empty() && (c_.mlm_head ? c_.head_bias : c_.logits_bias && has_bias)) {
        const bool row = rows(Slot::unembedding_bias, at)[0]->stored == Stored::one_row;
        w.bias = vector(stored_of(biases, ""),
                        row ? std::vector<int64_t>{1, c_.vocab} : std::vector<int64_t>{c_.vocab});
    }
    weights.unembedding = w;
}

Result<ModelWeights> Binder::bind() {
    ModelWeights w;
    w.stacks.resize(c_.stacks.size());
    for (int s = 0; s < isize(c_.stacks); ++s) {
        const StackConfig& stack = c_.stacks[s];
        StackWeights& to = w.stacks[s];
        const TensorOwner owner{w, to};
        if (stack.vocab) to.token_embedding = embedding(s);
        for (const SlotRow& slot : slots())
            if (slot.owner == OwnedBy::stack && slot.slot != Slot::token_embedding)
                bind_slot(slot, owner, {s});
        to.layers.resize(stack.layers.size());
        for (int l = 0; l < stack.depth(); ++l)
            if (stack.repeats(l))
                to.layers[l] = to.layers[l - 1];
            else
                bind_layer({w, to, &to.layers[l], nullptr, &to.layers[l].self}, {s, l});
        for (int l = 0; l < stack.depth(); ++l)
            share_keys(stack.layers[l].attention, to.layers, to.layers[l].self);
    }
    const TensorOwner owner{w, w.stacks.back()};
    for (const Slot slot : {Slot::class_token, Slot::registers, Slot::patch})
        bind_slot(slot_row(slot), owner, {});
    if (has(Slot::contact, {}, ".weight")) bind_slot(slot_row(Slot::contact), owner, {});
    bind_head(w, owner);
    TRY_STATUS(finish());
    return w;
}

}  // namespace

Result<ModelWeights> bind_weights(WeightStore& store, const ModelConfig& config, const TensorNames& names) {
    return Binder(store, config, names).bind();
}

}  // namespace headlight
