#include "analysis/circuit_factors.h"

#include <algorithm>
#include <limits>

#include "analysis/direct.h"
#include "base/cast.h"
#include "model/heads.h"
#include "model/rules.h"

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

/// The stack whose stream a side of a block reads.
int stack_read(const ModelConfig& c, int block, bool keys) {
    const AttentionBlock at = c.block(block);
    return keys ? at.key_stack() : at.stack;
}

/// The norm that a side of a block reads through; none: it reads the stream as it is.
Norm norm_read(const Model& model, int block, bool keys) {
    const ModelConfig& c = model.config;
    if (keys && c.block(block).kind == AttentionKind::cross) return model.weights.stacks[0].final_norm;
    return c.norm_place == NormPlace::before ? weights_of(model, block).norm : Norm{};
}

/// The rows of a matrix of the stream's width through a norm's gain, without its scale.
Matrix through_gain(const ModelConfig& c, const Norm& norm, Matrix rows) {
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

/// [count, d_model]: what enters the first layer for some tokens of a vocabulary where nothing is added for
/// positions.
Matrix embedded(const Model& model, int stack, Index first, Index count, ThreadPool& pool) {
    const ModelConfig& c = model.config;
    const StackWeights& w = model.weights.stacks[stack];
    Matrix x(count, w.token_embedding.in);
    for (Index i = 0; i < count; ++i) w.token_embedding.read(first + i, 0, x.cols(), x.row(i).data());
    x *= c.embed_scale;
    const bool project_first = w.embed_project && c.d_model_positions;
    if (project_first) x = multiplied(w.embed_project, x, pool);
    if (w.embed_norm) x = apply_norm(c, w.embed_norm, x, pool);
    if (w.embed_project && !project_first) x = multiplied(w.embed_project, x, pool);
    return x;
}

/// [vocab, d_head]: each token's embedding as a side of the block reads it, through one of its matrices.
Matrix vectors_of_tokens(const Model& model, int block, bool keys, const Linear& with, const Norm& by_head,
                         ThreadPool& pool) {
    const ModelConfig& c = model.config;
    const int stack = stack_read(c, block, keys);
    const Norm norm = without_bias(norm_read(model, block, keys));
    const Index vocab = model.weights.stacks[stack].token_embedding.out;
    Matrix out(vocab, with.out);
    for (Index first = 0; first < vocab; first += kTokensAtOnce) {
        const Index count = std::min(kTokensAtOnce, vocab - first);
        Matrix x = embedded(model, stack, first, count, pool);
        if (norm) x = apply_norm(c, norm, x, pool);
        Matrix y = multiplied(without_bias(with), x, pool);
        out.middleRows(first, count) = by_head ? apply_norm(c, without_bias(by_head), y, pool) : y;
    }
    return out;
}

Index shared_head(const ModelConfig& c, AttentionHead head) {
    return head.head / (c.heads(head.block) / c.kv_heads(head.block));
}

Linear columns_of_head(const ModelConfig& c, const Linear& w, int block, Index head) {
    return w.columns(head * c.d_head(block), c.d_head(block));
}

}  // namespace

Matrix read_through(const Model& model, int block, bool keys, const Matrix& with) {
    return through_gain(model.config, norm_read(model, block, keys), with.transpose()).transpose();
}

Matrix written_through(const Model& model, int block, const Matrix& output) {
    return through_gain(model.config, weights_of(model, block).post_norm, output);
}

std::string missing_qk(const Model& model) {
    return model.config.can.read_image
               ? model.name + " reads images: it has no vocabulary whose tokens could meet."
               : "";
}

std::string missing_ov(const Model& model, AttentionHead head) {
    const ModelConfig& c = model.config;
    if (std::string missing = missing_qk(model); !missing.empty()) return missing;
    if (!model.has_logits()) return model.name + " has no head that predicts tokens.";
    if (c.block(head.block).stack + 1 != isize(c.stacks))
        return "The encoder's heads write to no logits: the decoder does.";
    return has_direct_path(model) ? ""
                                  : "No direct path leads from a head to the logits: " +
                                        std::string(c.mlm_head ? "a layer of its own stands before them."
                                                               : "norms behind the blocks stand in it.");
}

Matrix token_queries(const Model& model, AttentionHead head, ThreadPool& pool) {
    const ModelConfig& c = model.config;
    const AttentionWeights& w = weights_of(model, head.block);
    const AttentionBlock at = c.block(head.block);
    return vectors_of_tokens(model, head.block, false, columns_of_head(c, w.q, head.block, head.head),
                             w.q_norm, pool) *
           c.score_scale(c.stacks[at.stack], at.layer);
}

Matrix token_keys(const Model& model, AttentionHead head, ThreadPool& pool) {
    const ModelConfig& c = model.config;
    const AttentionWeights& w = weights_of(model, head.block);
    return vectors_of_tokens(model, head.block, true,
                             columns_of_head(c, w.k, head.block, shared_head(c, head)), w.k_norm, pool);
}

Matrix token_values(const Model& model, AttentionHead head, ThreadPool& pool) {
    const ModelConfig& c = model.config;
    return vectors_of_tokens(
        model, head.block, true,
        columns_of_head(c, weights_of(model, head.block).v, head.block, shared_head(c, head)), Norm{}, pool);
}

Matrix output_logits(const Model& model, AttentionHead head, ThreadPool& pool) {
    const ModelConfig& c = model.config;
    const Index d = c.d_head(head.block);
    const Matrix o = input_rows(weights_of(model, head.block).o, head.head * d, d);
    Matrix x = through_gain(c, model.weights.stacks.back().final_norm, written_through(model, head.block, o));
    x *= c.logit_scale;
    if (model.weights.head_dense) x = multiplied(without_bias(model.weights.head_dense), x, pool);
    return multiplied(without_bias(model.weights.unembedding), x, pool).transpose();
}

namespace {

/// A request of tokens that all are alike.
std::vector<Sequence> equal_tokens(const ModelConfig& c, int n) {
    std::vector<Sequence> out(c.stacks.size());
    for (Sequence& s : out) s.ids.assign(n, c.position_pad == 0 ? 1 : 0);  // padding counts no position
    return out;
}

}  // namespace

float previous_token_score(const Model& model, AttentionHead head, ThreadPool& pool) {
    constexpr int kTokens = 64;
    const ModelConfig& c = model.config;
    const AttentionBlock at = c.block(head.block);
    const int n = std::min(kTokens, c.context);
    if (c.can.read_image || at.kind == AttentionKind::cross || n < 2)
        return std::numeric_limits<float>::quiet_NaN();
    const std::vector<Sequence> inputs = equal_tokens(c, n);
    const auto rules = attention_rules(model, inputs, {}, pool.cancel_flag());
    if (!rules) throw Failure(rules.error());
    const AttentionRule& rule = *(*rules)[at.stack][at.layer].self;
    const AttentionWeights& w = weights_of(model, head.block);
    Matrix x = mean_embeddings(model, inputs, *rules, pool)[at.stack];
    if (const Norm norm = norm_read(model, head.block, false)) x = apply_norm(c, norm, x, pool);
    const Rope& rope = c.rope_of(c.stacks[at.stack], at.layer);
    const auto vectors = [&](const Linear& all, Index number, const Norm& norm) {
        Matrix y = multiplied(columns_of_head(c, all, head.block, number), x, pool);
        if (norm) y = apply_norm(c, norm, y, pool);
        if (rope.dims) apply_rope(rope, make_rope_table(rope, n, 0, n), 1, pool, y);
        return Rows(std::move(y));
    };
    Matrix pattern(n, n);
    head_pattern(rule, head.head, vectors(w.q, head.head, w.q_norm),
                 vectors(w.k, shared_head(c, head), w.k_norm), 0, pattern);
    return pattern.diagonal(-1).mean();
}

}  // namespace headlight
