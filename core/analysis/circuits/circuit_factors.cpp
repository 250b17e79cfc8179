// Computes the factors of a head's circuits over the vocabulary.
#include "analysis/circuits/circuit_factors.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "analysis/circuits/direct.h"
#include "base/cast.h"
#include "base/memory.h"
#include "model/heads.h"
#include "model/interventions/rules.h"

namespace headlight {

namespace {

constexpr Index kTokensAtOnce = 1024;

Linear without_bias(Linear w) {
    w.bias = nullptr;
    return w;
}
Norm without_bias(Norm norm) {
    norm.bias = nullptr;
    return norm;
}

/// Returns the stack whose stream a side of a block reads.
int stack_read(const ModelConfig& c, int block, bool keys) {
    const AttentionBlock at = c.block(block);
    return keys ? at.key_stack : at.stack;
}

/// Returns the norm that a side of a block reads through; none: it reads the stream directly.
Norm norm_read(const Model& model, int block, bool keys) {
    const ModelConfig& c = model.config;
    if (keys) block = c.key_block(block);
    if (keys && c.block(block).kind == AttentionKind::cross) return model.weights.stacks[0].final_norm;
    return !c.layer_of(block).norms_sum() ? weights_of(model, block).norm : Norm{};
}

/// Applies a norm's weight to rows of a matrix of the stream's width, without its scale.
Matrix scale_by_norm(const ModelConfig& c, const Norm& norm, Matrix rows) {
    if (!norm) return rows;
    if (c.norm == NormKind::layer_norm) rows.colwise() -= rows.rowwise().mean().eval();
    const Eigen::Map<const Eigen::RowVectorXf> weight(norm.weight, rows.cols());
    return (rows.array().rowwise() * weight.array()).matrix();
}

Matrix multiplied(const Linear& w, ConstMatrixRef x, ThreadPool& pool) {
    Matrix y(x.rows(), w.out);
    apply_linear(pool, x, w, y);
    return y;
}

/// [count, d_model]: the input of the first layer for some tokens of a vocabulary, without positions.
Matrix embedded(const Model& model, int stack, Index first, Index count, ThreadPool& pool) {
    const ModelConfig& c = model.config;
    const StackWeights& w = model.weights.stacks[stack];
    constexpr Index kRows = 64;
    Matrix x(count, w.token_embedding.in);
    pool.run(narrow<int>((count + kRows - 1) / kRows), [&](int tile) {
        for (Index i = tile * kRows; i < std::min(count, (tile + 1) * kRows); ++i)
            w.token_embedding.read(first + i, 0, x.cols(), x.row(i).data());
    });
    x *= c.embed_scale;
    const bool project_first = w.embed_project && (c.d_model_positions || c.norm_projected);
    if (project_first) x = multiplied(w.embed_project, x, pool);
    if (w.embed_norm) x = apply_norm(c, w.embed_norm, x, pool);
    if (w.embed_project && !project_first) x = multiplied(w.embed_project, x, pool);
    return x;
}

/// Holds a matrix that a side of a block reads with, and the [vocab, its width] to fill.
struct SideRead {
    bool keys;
    HeadPart with;
    Matrix& to;
};

bool read_alike(const ModelConfig& c, int block) {
    return c.block(block).kind != AttentionKind::cross && c.key_block(block) == block;
}

/// Embeds each token as one side of the block reads it, through these matrices.
void read_tokens(const Model& model, AttentionHead head, bool keys, std::span<SideRead* const> reads,
                 ThreadPool& pool) {
    const ModelConfig& c = model.config;
    const int block = head.block;
    const HeadWeights weights(model, head);
    const int stack = stack_read(c, block, keys);
    const Norm norm = without_bias(norm_read(model, block, keys));
    const Index vocab = model.weights.stacks[stack].token_embedding.out;
    for (const SideRead* read : reads) read->to.resize(vocab, weights.width(read->with));
    for (Index first = 0; first < vocab; first += kTokensAtOnce) {
        const Index count = std::min(kTokensAtOnce, vocab - first);
        Matrix x = embedded(model, stack, first, count, pool);
        if (norm) x = apply_norm(c, norm, x, pool);
        for (const SideRead* read : reads)
            read->to.middleRows(first, count) = weights.project(read->with, x, pool, true);
    }
}

}  // namespace

Matrix read_through(const Model& model, int block, bool keys, const Matrix& with) {
    return scale_by_norm(model.config, norm_read(model, block, keys), with.transpose()).transpose();
}

Matrix written_through(const Model& model, int block, const Matrix& output) {
    return scale_by_norm(model.config, weights_of(model, block).post_norm, output);
}

std::string missing_qk(const Model& model, AttentionHead head) {
    if (model.config.attention(head.block).recurrence)
        return "A recurrence reads q, k and v through a convolution: a token alone makes none of them.";
    return model.config.can.read_image
               ? model.name + " reads images: it has no vocabulary whose tokens could meet."
               : "";
}

std::string missing_ov(const Model& model, AttentionHead head) {
    const ModelConfig& c = model.config;
    if (std::string missing = missing_qk(model, head); !missing.empty()) return missing;
    if (model.weights.stacks.empty()) return model.name + " holds no weights, which circuits are made of.";
    if (!model.has_logits()) return model.name + " has no head that predicts tokens.";
    if (c.block(head.block).stack + 1 != isize(c.stacks))
        return "The encoder's heads write to no logits: the decoder does.";
    return has_direct_path(model)
               ? ""
               : "No direct path leads from a head to the logits: " +
                     std::string(c.mlm_head        ? "a layer of its own stands before them."
                                 : c.has_streams() ? "several streams are mixed before them."
                                                   : "norms behind the blocks stand in it.");
}

TokenSides token_sides(const Model& model, AttentionHead head, unsigned wanted, ThreadPool& pool) {
    const ModelConfig& c = model.config;
    const int block = head.block;
    TokenSides out;
    std::vector<SideRead> reads;
    if (wanted & kQueries) reads.push_back({false, HeadPart::q, out.queries});
    if (wanted & kKeys) reads.push_back({true, HeadPart::k, out.keys});
    if (wanted & kValues) reads.push_back({true, HeadPart::v, out.values});
    const HeadWeights weights(model, head);
    int64_t bytes = 0;
    for (const SideRead& read : reads)
        bytes += model.weights.stacks[stack_read(c, block, read.keys)].token_embedding.out *
                 weights.width(read.with) * int64_t{sizeof(float)};
    check_fits(bytes);
    for (const bool keys : {false, true}) {
        std::vector<SideRead*> alike;
        for (SideRead& read : reads)
            if (read_alike(c, block) ? !keys : read.keys == keys) alike.push_back(&read);
        if (!alike.empty()) read_tokens(model, head, keys, alike, pool);
    }
    out.queries *= c.attention(block).score_scale();
    return out;
}

Matrix output_logits(const Model& model, AttentionHead head, ThreadPool& pool) {
    const ModelConfig& c = model.config;
    const Index d = c.d_value(head.block);
    const Matrix o = HeadWeights(model, head).output();
    Matrix x =
        scale_by_norm(c, model.weights.stacks.back().final_norm, written_through(model, head.block, o));
    x *= c.logit_scale * carried_share(model, head.block);
    check_fits(model.weights.unembedding.out * d * int64_t{2 * sizeof(float)});  // and transposed
    if (model.weights.head_dense) x = multiplied(without_bias(model.weights.head_dense), x, pool);
    return multiplied(without_bias(model.weights.unembedding), x, pool).transpose();
}

namespace {

std::vector<Sequence> equal_tokens(const ModelConfig& c, int n) {
    std::vector<Sequence> out(c.stacks.size());
    for (Sequence& s : out) s.ids.assign(n, c.position_pad == 0 ? 1 : 0);  // padding tokens take no position
    return out;
}

}  // namespace

void AverageText::make(int tokens, ThreadPool& pool) {
    const std::vector<Sequence> inputs = equal_tokens(model_.config, tokens);
    auto rules = attention_rules(model_, inputs, {}, pool.cancel_flag());
    if (!rules) throw Failure(rules.error());
    embeddings_ = mean_embeddings(model_, inputs, *rules, pool);
    rules_ = *std::move(rules);
}

float AverageText::previous_token_score(AttentionHead head, ThreadPool& pool) {
    constexpr int kTokens = 64;
    const ModelConfig& c = model_.config;
    const AttentionBlock at = c.block(head.block);
    const int n = std::min(kTokens, c.context);
    if (c.can.read_image || at.kind == AttentionKind::cross || n < 2)
        return std::numeric_limits<float>::quiet_NaN();
    if (embeddings_.empty()) make(n, pool);
    const AttentionRule& rule = *rules_[at.stack][at.layer].self;
    const HeadWeights weights(model_, head);
    const AttentionSpec& spec = c.attention(head.block);
    const auto vectors = [&](HeadPart which) {
        Matrix x = embeddings_[at.stack];
        if (const Norm read = norm_read(model_, head.block, which == HeadPart::k))
            x = apply_norm(c, read, x, pool);
        const Norm norm = spec.norm_rotated ? weights.norm(which) : Norm{};
        Matrix y = norm ? weights.project_alone(which, x, pool) : weights.project(which, x, pool);
        if (spec.rope.dims) apply_rope(spec.rope, make_rope_table(spec.rope, n, 0, n), 1, pool, y);
        return norm ? apply_norm(c, norm, y, pool) : y;
    };
    Matrix pattern(n, n), q = vectors(HeadPart::q);
    for (int i = 0; i < n; ++i) q.row(i) *= spec.query_scale(i);
    head_pattern(rule, head.head, Rows(std::move(q)), Rows(vectors(HeadPart::k)), 0, pattern);
    return pattern.diagonal(-1).mean();
}

}  // namespace headlight
