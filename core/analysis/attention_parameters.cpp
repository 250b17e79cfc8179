#include "analysis/attention_parameters.h"

#include <algorithm>

#include "base/check.h"
#include "base/spectrum.h"
#include "model/config.h"

namespace headlight {

namespace {

int own_layers(const StackConfig& s) { return s.layer_groups ? s.layer_groups : s.layers; }

/// The matrix of a layer without its bias, for `rows` of the identity from `first` on: [rows, w.out].
Matrix matrix_rows(Linear w, Index first, Index rows, ThreadPool& pool) {
    w.bias = nullptr;
    Matrix picks = Matrix::Zero(rows, w.in), out(rows, w.out);
    for (Index i = 0; i < rows; ++i) picks(i, first + i) = 1;
    apply_linear(pool, picks, w, out);
    return out;
}

}  // namespace

std::vector<AttentionCount> attention_counts(const ModelConfig& c) {
    std::vector<AttentionCount> out;
    const auto add = [&](const std::string& blocks, const StackConfig& s) {
        out.push_back({blocks, own_layers(s), s.heads, s.kv_heads, c.d_model, s.d_head});
    };
    for (const StackConfig& s : c.stacks) add(c.stacks.size() > 1 ? s.name : "", s);
    for (const StackConfig& s : c.stacks)
        if (s.cross) add("cross", s);
    return out;
}

MatrixCount matrix_count(const ModelConfig& c) {
    MatrixCount out;
    for (int i = 0; i < isize(c.stacks); ++i) {
        const StackConfig& s = c.stacks[i];
        if (i == 0 || !c.shared_embedding) out.embedding += int64_t{s.vocab} * c.d_embed;
        out.mlp += int64_t{own_layers(s)} * (c.gated ? 3 : 2) * c.d_model * s.d_mlp;
    }
    for (const AttentionCount& count : attention_counts(c)) out.attention += count.all();
    out.unembedding = int64_t{c.vocab} * c.d_embed;
    return out;
}

const ModelConfig& gpt3_config() {
    static const ModelConfig config = *parse_config(embedded_json("assets/gpt3.json"), "gpt3.json");
    return config;
}

ValueFactors value_factors(const Model& model, AttentionHead head, ThreadPool& pool) {
    const ModelConfig& c = model.config;
    HEADLIGHT_CHECK(c.has_head(head) && !model.weights.stacks.empty());
    const AttentionBlock at = c.block(head.block);
    const LayerWeights& layer = model.weights.stacks[at.stack].layers[at.layer];
    const AttentionWeights& w = at.kind == AttentionKind::cross ? layer.cross : layer.self;
    const Index d = c.d_head(head.block), kv = head.head / (c.heads(head.block) / c.kv_heads(head.block));
    return {matrix_rows(w.v.columns(kv * d, d), 0, w.v.in, pool), matrix_rows(w.o, head.head * d, d, pool)};
}

Vector singular_values(const ValueFactors& f) { return product_singular_values(f.down, f.up); }

}  // namespace headlight
