// Lists a model's tensors from its config.
#include "model/loading/parameters.h"

#include <cstdio>

namespace headlight {

namespace {

std::string by(int64_t a, int64_t b) { return std::to_string(a) + " × " + std::to_string(b); }

/// Collects rows; writes shapes as in × out.
class TableRows {
public:
    void matrix(ModelPart part, const std::string& block, int64_t in, int64_t out, bool bias,
                int64_t times = 1) {
        add({block, (times > 1 ? std::to_string(times) + " × " : "") + by(in, out) + (bias ? " + bias" : ""),
             times * (in * out + (bias ? out : 0)), 1, part, times * in * out});
    }
    void table(ModelPart part, const std::string& block, int64_t rows, int64_t width) {
        add({block, by(rows, width), rows * width, 1, part, rows * width});
    }
    void vector(ModelPart part, const std::string& block, int64_t width) {
        add({block, std::to_string(width), width, 1, part, 0});
    }
    void norm(const ModelConfig& c, const std::string& block, int64_t width, bool biased = true) {
        if (!c.norm_weight) return;
        const bool bias = c.norm_bias && biased;
        add({block, bias ? by(2, width) : std::to_string(width), (bias ? 2 : 1) * width, 1, ModelPart::norm,
             0});
    }
    std::vector<ParameterRow> take() { return std::move(rows_); }

private:
    /// Adds a row, or counts an equal one once more.
    void add(const ParameterRow& row) {
        for (ParameterRow& same : rows_)
            if (same.block == row.block && same.shape == row.shape) {
                ++same.count;
                return;
            }
        rows_.push_back(row);
    }
    std::vector<ParameterRow> rows_;
};

void add_latent(TableRows& rows, const ModelConfig& c, const AttentionSpec& a, const std::string& of) {
    constexpr ModelPart kPart = ModelPart::attention;
    const Latent& latent = *a.latent;
    if (latent.q_rank) {
        rows.matrix(kPart, of + "query down", c.d_model, latent.q_rank, latent.bias);
        rows.norm(c, of + "query latent norm", latent.q_rank);
    }
    rows.matrix(kPart, of + "query", latent.q_rank ? latent.q_rank : c.d_model, int64_t{a.heads} * a.d_head,
                a.bias);
    rows.matrix(kPart, of + "key, value down", c.d_model, latent.kv_rank + latent.d_shared, latent.bias);
    rows.norm(c, of + "key, value latent norm", latent.kv_rank);
    rows.matrix(kPart, of + "key, value", latent.kv_rank,
                int64_t{a.heads} * (latent.d_own(a.d_head) + a.value_width()), false);
}

void add_recurrence(TableRows& rows, const ModelConfig& c, const AttentionSpec& a, const std::string& of) {
    constexpr ModelPart kPart = ModelPart::attention;
    const RecurrenceSpec& r = *a.recurrence;
    if (r.is_convolution()) {
        rows.matrix(kPart, of + "gates, value", c.d_model, a.value_width(), a.bias, 3);
        rows.table(kPart, of + "convolution", a.value_width(), r.kernel);
        if (r.kernel_bias) rows.vector(kPart, of + "convolution bias", a.value_width());
        rows.matrix(kPart, of + "output", a.value_width(), c.d_model, a.output_bias);
        return;
    }
    if (r.is_selective()) {
        rows.matrix(kPart, of + "value, gate", c.d_model, a.heads, a.bias, 2);
        rows.table(kPart, of + "convolution", a.heads, r.kernel);
        if (r.kernel_bias) rows.vector(kPart, of + "convolution bias", a.heads);
        rows.matrix(kPart, of + "step, key, query", a.heads, r.step_rank + 2 * int64_t{a.d_head}, false);
        rows.matrix(kPart, of + "step of heads", r.step_rank, a.heads, true);
        rows.table(kPart, of + "rates of decay", a.heads, a.d_head);
        rows.vector(kPart, of + "skip", a.heads);
        if (r.norms == RecurrenceSpec::Norms::weighted)
            rows.vector(ModelPart::norm, of + "norms of step, key, query",
                        r.step_rank + 2 * int64_t{a.d_head});
        rows.matrix(kPart, of + "output", a.heads, c.d_model, a.output_bias);
        return;
    }
    const int64_t keys = int64_t{r.key_heads} * a.d_head, values = int64_t{a.heads} * a.value_width(),
                  channels = 2 * keys + values;
    const bool state_space = r.kind == RecurrenceSpec::Kind::state_space;
    rows.matrix(kPart, of + "query, key", c.d_model, keys, a.bias, 2);
    rows.matrix(kPart, of + "value", c.d_model, values, a.bias);
    rows.matrix(kPart, of + (state_space ? "step" : "decay, strength"), c.d_model, a.heads, a.bias,
                state_space ? 1 : 2);
    rows.vector(kPart, of + "rates of heads", (state_space ? 3 : 2) * a.heads);
    rows.table(kPart, of + "convolution", channels, r.kernel);
    if (r.kernel_bias) rows.vector(kPart, of + "convolution bias", channels);
    rows.matrix(kPart, of + "gate", c.d_model, values, state_space && a.bias);
    if (a.gate.norms)
        rows.vector(ModelPart::norm, of + "gate norm", a.gate.norm_shared ? values / a.gate.norms : values);
    rows.matrix(kPart, of + "output", values, c.d_model, a.output_bias);
}

void add_qk_norms(TableRows& rows, const ModelConfig& c, const AttentionSpec& a, const std::string& of) {
    const int64_t all = int64_t{a.heads + a.kv_heads} * a.d_head;
    if (a.qk_norm == QkNorm::per_head)
        rows.norm(c, of + (a.makes_keys() ? "norms of q and k" : "norm of q"),
                  (a.makes_keys() ? 2 : 1) * a.d_head, a.qk_norm_bias);
    if (a.qk_norm == QkNorm::whole) rows.norm(c, of + "norms of q and k", all, a.qk_norm_bias);
    if (a.qk_norm == QkNorm::own_weights) rows.vector(ModelPart::norm, of + "norms of q and k", all);
}

void add_attention(TableRows& rows, const ModelConfig& c, const AttentionSpec& a, const std::string& of) {
    constexpr ModelPart kPart = ModelPart::attention;
    const int64_t inner = int64_t{a.heads} * a.d_head, shared = int64_t{a.kv_heads} * a.d_head,
                  values = int64_t{a.kv_heads} * a.value_width();
    if (a.recurrence) return add_recurrence(rows, c, a, of);
    if (a.latent) {
        add_latent(rows, c, a, of);
    } else if (!a.projects_values()) {
        rows.matrix(kPart, of + "query", c.d_model, inner, a.bias);
        if (a.makes_keys()) rows.matrix(kPart, of + "key, also value", c.d_model, shared, a.bias);
    } else if (!a.key_bias) {
        rows.matrix(kPart, of + "query, value", c.d_model, inner, a.bias, 2);
        rows.matrix(kPart, of + "key", c.d_model, shared, false);
    } else if (values != shared) {
        rows.matrix(kPart, of + "query", c.d_model, inner, a.bias);
        rows.matrix(kPart, of + "key", c.d_model, shared, a.bias);
        rows.matrix(kPart, of + "value", c.d_model, values, a.bias);
    } else if (a.kv_heads == a.heads) {
        rows.matrix(kPart, of + "query, key, value", c.d_model, inner, a.bias, 3);
    } else {
        rows.matrix(kPart, of + "query", c.d_model, inner, a.bias);
        rows.matrix(kPart, of + "key, value", c.d_model, shared, a.bias, 2);
    }
    add_qk_norms(rows, c, a, of);
    if (a.qv_bias) rows.vector(kPart, of + "biases of query and value", inner + shared);
    if (const auto& spec = a.disentangled; spec && !spec->shared) {
        if (spec->to_position) rows.matrix(kPart, of + "key of distances", c.d_model, inner, spec->key_bias);
        if (spec->from_position) rows.matrix(kPart, of + "query of distances", c.d_model, inner, true);
    }
    const int64_t read = int64_t{a.heads} * a.value_width();
    if (a.gate)
        rows.matrix(kPart, of + "gate", c.d_model,
                    a.gate.width == AttentionGate::Width::head ? a.heads : read, false);
    if (a.sinks) rows.vector(kPart, of + "sinks", a.heads);
    rows.matrix(kPart, of + "output", read, c.d_model, a.output_bias || a.bias_apart);
}

/// Counts cross-attention, or a mixer that reads through attention's norm.
void add_second(TableRows& rows, const ModelConfig& c, const LayerSpec& layer, const std::string& of) {
    const bool mixer = layer.second->recurrence.has_value();
    if (!mixer) rows.norm(c, of + "cross-attention norm", c.d_model);
    add_attention(rows, c, *layer.second, of + (mixer ? "mixer " : "cross-attention "));
}

void add_layer(TableRows& rows, const ModelConfig& c, const LayerSpec& layer, const std::string& of) {
    const bool around = layer.norms != NormPlace::output;
    if (around && layer.attention.norm) rows.norm(c, of + "attention norm", c.d_model);
    add_attention(rows, c, layer.attention, of + "attention ");
    if (layer.second) add_second(rows, c, layer, of);
    if (around && !layer.shared_norm && !layer.mlp.none()) rows.norm(c, of + "MLP norm", c.d_model);
    if (layer.norms_output()) rows.norm(c, of + "branch norms", (layer.second ? 3 : 2) * c.d_model);
    if (layer.mlp_output_norm) rows.norm(c, of + "MLP output norm", c.d_model);
    if (layer.layer_scale) rows.vector(ModelPart::norm, of + "branch scales", 2 * c.d_model);
    if (layer.convolution) {
        const int64_t own = c.d_model / layer.convolution->groups;
        rows.matrix(ModelPart::mlp, of + "convolution", own * layer.convolution->kernel, c.d_model, true);
        rows.norm(c, of + "convolution norm", c.d_model);
    }
    if (layer.embedding) {
        rows.matrix(ModelPart::mlp, of + "layer embedding gate", c.d_model, layer.embedding->width, false);
        rows.matrix(ModelPart::mlp, of + "layer embedding out", layer.embedding->width, c.d_model, false);
        rows.norm(c, of + "layer embedding norm", c.d_model);
    }
    if (layer.output_scale) rows.vector(ModelPart::norm, of + "output scale", 1);
    if (layer.laurel_rank) {
        rows.matrix(ModelPart::mlp, of + "LAuReL down", c.d_model, layer.laurel_rank, false);
        rows.matrix(ModelPart::mlp, of + "LAuReL up", layer.laurel_rank, c.d_model, false);
        rows.norm(c, of + "LAuReL norm", c.d_model);
    }
    const MlpSpec& mlp = layer.mlp;
    if (mlp.activation == Activation::xielu) rows.vector(ModelPart::mlp, of + "parameters of xIELU", 2);
    if (mlp.width)
        rows.matrix(ModelPart::mlp, of + "MLP in", c.d_model, mlp.width, mlp.has_in_bias(),
                    mlp.gated ? 2 : 1);
    if (mlp.width) rows.matrix(ModelPart::mlp, of + "MLP out", mlp.width, c.d_model, mlp.bias);
    if (!mlp.experts) return;
    const ExpertsSpec& experts = *mlp.experts;
    rows.matrix(ModelPart::mlp, of + "router", c.d_model, experts.count, experts.router_bias);
    rows.matrix(ModelPart::mlp, of + "experts in", c.d_model, experts.width, experts.bias,
                experts.count * (mlp.gated ? 2 : 1));
    rows.matrix(ModelPart::mlp, of + "experts out", experts.width, c.d_model, experts.bias, experts.count);
    if (experts.own_scales) rows.vector(ModelPart::mlp, of + "scales of experts", experts.count);
    if (experts.apart) rows.vector(ModelPart::norm, of + "norms of experts and router", 4 * c.d_model);
}

/// Counts what carries the streams of a stack, in all layers.
void add_streams(TableRows& rows, const ModelConfig& c, const StackConfig& s, const std::string& of) {
    constexpr ModelPart kPart = ModelPart::mlp;
    const int64_t count = s.streams->count;
    rows.matrix(ModelPart::embedding, of + "projection to streams", c.d_model, c.d_model, false, count - 1);
    rows.matrix(ModelPart::unembedding, of + "projection of streams", c.d_model, c.d_model, false, count - 1);
    for (int l = 0; l < s.depth(); ++l) {
        rows.norm(c, of + "norm of streams", c.d_model);
        rows.matrix(kPart, of + "router of streams", c.d_model, count, false);
        rows.matrix(kPart, of + "prediction of streams", count, count * count, false);
        rows.matrix(kPart, of + "correction of streams", count, count, false);
        rows.vector(ModelPart::norm, of + "scale of streams", c.d_model);
    }
}

void add_stack(TableRows& rows, const ModelConfig& c, const StackConfig& s) {
    const std::string of = c.stacks.size() > 1 ? s.name + " " : "";
    if (c.positions == PositionScheme::learned)
        rows.table(ModelPart::positions, of + "position embedding", c.position_rows(s),
                   c.project_positions() ? c.d_model : c.d_embed);
    if (c.embed_norm) rows.norm(c, of + "embedding norm", c.embed_norm_width());
    if (const auto& spec = s.layers[0].attention.disentangled) {
        rows.table(ModelPart::positions, of + "distance embedding", 2 * int64_t{spec->span}, c.d_model);
        if (spec->norm) rows.norm(c, of + "distance norm", c.d_model);
    }
    if (const auto& spec = s.layers[0].embedding) {
        const int64_t all = int64_t{s.depth()} * spec->width;
        rows.table(ModelPart::embedding, of + "layer embeddings", spec->vocab, all);
        rows.matrix(ModelPart::embedding, of + "projection to layer embeddings", c.d_model, all, false);
        rows.norm(c, of + "norm of layer embeddings", spec->width);
    }
    if (s.streams) add_streams(rows, c, s, of);
    for (int l = 0; l < s.depth(); ++l)
        if (!s.repeats(l)) add_layer(rows, c, s.layers[l], of);
    for (int l = 0; c.buckets.count && l < (c.buckets.of_each_layer ? s.depth() : 1); ++l)
        rows.table(ModelPart::positions, of + "distance bias", c.buckets.count, s.layers[0].attention.heads);
    if (c.final_norm) rows.norm(c, of + "final norm", c.d_model, c.final_norm_bias);
}

void add_head(TableRows& rows, const ModelConfig& c) {
    constexpr ModelPart kPart = ModelPart::unembedding;
    if (!c.predicts() || !c.vocab) return;  // a base model
    if (c.mlm_head) {
        rows.matrix(kPart, "head", c.d_model, c.unembedding_width(), c.head_dense_bias);
        rows.norm(c, "head norm", c.unembedding_width());
    }
    const bool bias = c.mlm_head ? c.head_bias : c.logits_bias;
    if (!c.tied_unembedding)
        rows.matrix(kPart, "unembedding", c.unembedding_width(), c.vocab, bias);
    else if (bias)
        rows.vector(kPart, "unembedding bias", c.vocab);
}

/// Counts what the projection of embeddings reads.
int64_t projected_width(const ModelConfig& c) {
    int64_t out = c.d_embed;
    for (const JoinedTable& table : c.joined_tables) out += table.width;
    return out;
}

}  // namespace

std::vector<ParameterRow> parameter_table(const ModelConfig& c) {
    TableRows rows;
    if (c.can.read_image) {
        rows.matrix(ModelPart::embedding, "patch embedding",
                    int64_t{c.vision.channels} * c.vision.patch * c.vision.patch, c.d_model, true);
        rows.vector(ModelPart::embedding, "class token", c.d_model);
        if (c.vision.registers) rows.table(ModelPart::embedding, "registers", c.vision.registers, c.d_model);
    }
    for (size_t s = 0; s < c.stacks.size(); ++s)
        if (c.stacks[s].vocab && (s == 0 || !c.shared_embedding))
            rows.table(ModelPart::embedding, s ? "target embedding" : "token embedding", c.stacks[s].vocab,
                       c.d_embed);
    if (c.token_types) rows.table(ModelPart::embedding, "type embedding", c.token_types, c.d_embed);
    for (const AddedTable& table : c.added_tables)
        rows.table(ModelPart::embedding, "embedding of other traits", table.rows, c.d_embed);
    if (c.projects_embedding())
        rows.matrix(ModelPart::embedding, "embedding projection", projected_width(c), c.d_model,
                    (!c.project_positions() || !c.joined_tables.empty()) && !c.norm_projected);
    for (const JoinedTable& table : c.joined_tables)
        rows.table(ModelPart::embedding, "embedding of other traits", table.rows, table.width);
    for (const auto& s : c.stacks) add_stack(rows, c, s);
    if (c.project_positions() && !c.mlm_head)
        rows.matrix(ModelPart::unembedding, "output projection", c.d_model, c.d_embed, false);
    add_head(rows, c);
    return rows.take();
}

int64_t parameter_count(const ModelConfig& config) {
    int64_t total = 0;
    for (const auto& row : parameter_table(config)) total += row.each * row.count;
    return total;
}

std::string short_count(int64_t count) {
    const auto value = double(count);
    char text[32];
    if (count >= 1'000'000'000)
        std::snprintf(text, sizeof text, "%.3g B", value / 1e9);
    else if (count >= 1'000'000)
        std::snprintf(text, sizeof text, "%.3g M", value / 1e6);
    else if (count >= 1000)
        std::snprintf(text, sizeof text, "%.3g k", value / 1e3);
    else
        return std::to_string(count);
    return text;
}

std::string with_commas(int64_t count) {
    std::string out = std::to_string(count);
    for (auto at = std::ssize(out) - 3; at > (count < 0 ? 1 : 0); at -= 3) out.insert(at, ",");
    return out;
}

}  // namespace headlight
