// Lists a model's tensors from its config.
#include "model/loading/parameters.h"

#include <cstdio>

namespace headlight {

namespace {

std::string by(int64_t a, int64_t b) { return std::to_string(a) + " × " + std::to_string(b); }

/// Collects rows; writes shapes as in × out.
class TableRows {
public:
    void matrix(ModelPart part, const std::string& block, int64_t in, int64_t out, bool bias, int count,
                int64_t times = 1) {
        if (count > 0)
            rows_.push_back(
                {block,
                 (times > 1 ? std::to_string(times) + " × " : "") + by(in, out) + (bias ? " + bias" : ""),
                 times * (in * out + (bias ? out : 0)), count, part, times * in * out});
    }
    void table(ModelPart part, const std::string& block, int64_t rows, int64_t width) {
        rows_.push_back({block, by(rows, width), rows * width, 1, part, rows * width});
    }
    void vector(ModelPart part, const std::string& block, int64_t width) {
        rows_.push_back({block, std::to_string(width), width, 1, part, 0});
    }
    void norm(const std::string& block, int64_t width, bool bias, int count) {
        if (count > 0)
            rows_.push_back({block, bias ? by(2, width) : std::to_string(width), (bias ? 2 : 1) * width,
                             count, ModelPart::norm, 0});
    }
    std::vector<ParameterRow> take() { return std::move(rows_); }

private:
    std::vector<ParameterRow> rows_;
};

void add_attention(TableRows& rows, const ModelConfig& c, const StackConfig& s, const std::string& of,
                   int layers, int norms) {
    constexpr ModelPart kPart = ModelPart::attention;
    const int64_t inner = int64_t{s.heads} * s.d_head, shared = int64_t{s.kv_heads} * s.d_head;
    rows.norm(of + "norm", c.d_model, c.norm_bias, norms);
    if (s.kv_heads == s.heads) {
        rows.matrix(kPart, of + "query, key, value", c.d_model, inner, c.attention_bias, layers, 3);
    } else {
        rows.matrix(kPart, of + "query", c.d_model, inner, c.attention_bias, layers);
        rows.matrix(kPart, of + "key, value", c.d_model, shared, c.attention_bias, layers, 2);
    }
    if (c.qk_norm) rows.norm(of + "norms of q and k", 2 * s.d_head, c.norm_bias, layers);
    rows.matrix(kPart, of + "output", inner, c.d_model, c.output_bias, layers);
}

void add_stack(TableRows& rows, const ModelConfig& c, const StackConfig& s) {
    const std::string of = c.stacks.size() > 1 ? s.name + " " : "";
    const int kinds = s.layer_groups ? s.layer_groups : s.layers;
    if (c.positions == PositionScheme::learned)
        rows.table(ModelPart::positions, of + "position embedding", c.context + c.position_offset,
                   c.project_positions() ? c.d_model : c.d_embed);
    if (c.embed_norm) rows.norm(of + "embedding norm", c.d_embed, c.norm_bias, 1);
    add_attention(rows, c, s, of + "attention ", kinds, s.skip_first_attn_norm ? kinds - 1 : kinds);
    if (s.cross) add_attention(rows, c, s, of + "cross-attention ", kinds, kinds);
    if (c.positions == PositionScheme::relative)
        rows.table(ModelPart::positions, of + "distance bias", c.buckets.count, s.heads);
    if (!c.shared_norm) rows.norm(of + "MLP norm", c.d_model, c.norm_bias, kinds);
    if (c.post_norm) rows.norm(of + "branch norms", 2 * c.d_model, c.norm_bias, kinds);
    rows.matrix(ModelPart::mlp, of + "MLP in", c.d_model, s.d_mlp, c.mlp_bias, kinds, c.gated ? 2 : 1);
    rows.matrix(ModelPart::mlp, of + "MLP out", s.d_mlp, c.d_model, c.mlp_bias, kinds);
    if (c.final_norm) rows.norm(of + "final norm", c.d_model, c.norm_bias, 1);
}

void add_head(TableRows& rows, const ModelConfig& c) {
    constexpr ModelPart kPart = ModelPart::unembedding;
    if (c.can.fill_masks && !c.mlm_head) return;  // a base model
    if (c.mlm_head) {
        rows.matrix(kPart, "head", c.d_model, c.d_embed, c.head_dense_bias, 1);
        rows.norm("head norm", c.d_embed, c.norm_bias, 1);
    }
    const bool bias = c.mlm_head ? c.head_bias : c.logits_bias;
    if (!c.tied_unembedding)
        rows.matrix(kPart, "unembedding", c.d_embed, c.vocab, bias, 1);
    else if (bias)
        rows.vector(kPart, "unembedding bias", c.vocab);
}

}  // namespace

std::vector<ParameterRow> parameter_table(const ModelConfig& c) {
    TableRows rows;
    if (c.can.read_image) {
        rows.matrix(ModelPart::embedding, "patch embedding",
                    int64_t{c.vision.channels} * c.vision.patch * c.vision.patch, c.d_model, true, 1);
        rows.vector(ModelPart::embedding, "class token", c.d_model);
    }
    for (size_t s = 0; s < c.stacks.size(); ++s)
        if (c.stacks[s].vocab && (s == 0 || !c.shared_embedding))
            rows.table(ModelPart::embedding, s ? "target embedding" : "token embedding", c.stacks[s].vocab,
                       c.d_embed);
    if (c.token_types) rows.table(ModelPart::embedding, "type embedding", c.token_types, c.d_embed);
    if (c.projects_embedding())
        rows.matrix(ModelPart::embedding, "embedding projection", c.d_embed, c.d_model,
                    !c.project_positions(), 1);
    for (const auto& s : c.stacks) add_stack(rows, c, s);
    if (c.project_positions())
        rows.matrix(ModelPart::unembedding, "output projection", c.d_model, c.d_embed, false, 1);
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
