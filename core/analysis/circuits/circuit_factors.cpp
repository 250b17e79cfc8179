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
    return keys ? at.key_stack() : at.stack;
}

/// Returns the norm that a side of a block reads through; none: it reads the stream directly.
Norm norm_read(const Model& model, int block, bool keys) {
    const ModelConfig& c = model.config;
    if (keys && c.block(block).kind == AttentionKind::cross) return model.weights.stacks[0].final_norm;
    return c.norm_place == NormPlace::before ? weights_of(model, block).norm : Norm{};
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
    const bool project_first = w.embed_project && c.d_model_positions;
    if (project_first) x = multiplied(w.embed_project, x, pool);
    if (w.embed_norm) x = apply_norm(c, w.embed_norm, x, pool);
    if (w.embed_project && !project_first) x = multiplied(w.embed_project, x, pool);
    return x;
}

/// Holds a matrix that a side of a block reads with, and the [vocab, d_head] to fill.
struct SideRead {
    bool keys;
    Linear with;
    Norm by_head;
    Matrix& to;
};

bool read_alike(const ModelConfig& c, int block) { return c.block(block).kind != AttentionKind::cross; }

/// Embeds each token as one side of the block reads it, through these matrices.
void read_tokens(const Model& model, int block, bool keys, std::span<SideRead* const> reads,
                 ThreadPool& pool) {
    const ModelConfig& c = model.config;
    const int stack = stack_read(c, block, keys);
    const Norm norm = without_bias(norm_read(model, block, keys));
    const Index vocab = model.weights.stacks[stack].token_embedding.out;
    for (const SideRead* read : reads) read->to.resize(vocab, read->with.out);
    for (Index first = 0; first < vocab; first += kTokensAtOnce) {
        const Index count = std::min(kTokensAtOnce, vocab - first);
        Matrix x = embedded(model, stack, first, count, pool);
        if (norm) x = apply_norm(c, norm, x, pool);
        for (const SideRead* read : reads) {
            Matrix y = multiplied(without_bias(read->with), x, pool);
            read->to.middleRows(first, count) =
                read->by_head ? apply_norm(c, without_bias(read->by_head), y, pool) : y;
        }
    }
}

Index shared_head(const ModelConfig& c, AttentionHead head) {
    return head.head / (c.heads(head.block) / c.kv_heads(head.block));
}

Linear columns_of_head(const ModelConfig& c, const Linear& w, int block, Index head) {
    return w.columns(head * c.d_head(block), c.d_head(block));
}

}  // namespace

Matrix read_through(const Model& model, int block, bool keys, const Matrix& with) {
    return scale_by_norm(model.config, norm_read(model, block, keys), with.transpose()).transpose();
}

Matrix written_through(const Model& model, int block, const Matrix& output) {
    return scale_by_norm(model.config, weights_of(model, block).post_norm, output);
}

std::string missing_qk(const Model& model) {
    return model.config.can.read_image
               ? model.name + " reads images: it has no vocabulary whose tokens could meet."
               : "";
}

std::string missing_ov(const Model& model, AttentionHead head) {
    const ModelConfig& c = model.config;
    if (std::string missing = missing_qk(model); !missing.empty()) return missing;
    if (model.weights.stacks.empty()) return model.name + " holds no weights, which circuits are made of.";
    if (!model.has_logits()) return model.name + " has no head that predicts tokens.";
    if (c.block(head.block).stack + 1 != isize(c.stacks))
        return "The encoder's heads write to no logits: the decoder does.";
    return has_direct_path(model) ? ""
                                  : "No direct path leads from a head to the logits: " +
                                        std::string(c.mlm_head ? "a layer of its own stands before them."
                                                               : "norms behind the blocks stand in it.");
}

TokenSides token_sides(const Model& model, AttentionHead head, unsigned wanted, ThreadPool& pool) {
    const ModelConfig& c = model.config;
    const int block = head.block;
    const AttentionWeights& w = weights_of(model, block);
    const AttentionBlock at = c.block(block);
    const Index shared = shared_head(c, head);
    TokenSides out;
    std::vector<SideRead> reads;
    if (wanted & kQueries)
        reads.push_back({false, columns_of_head(c, w.q, block, head.head), w.q_norm, out.queries});
    if (wanted & kKeys) reads.push_back({true, columns_of_head(c, w.k, block, shared), w.k_norm, out.keys});
    if (wanted & kValues) reads.push_back({true, columns_of_head(c, w.v, block, shared), {}, out.values});
    int64_t bytes = 0;
    for (const SideRead& read : reads)
        bytes += model.weights.stacks[stack_read(c, block, read.keys)].token_embedding.out * read.with.out *
                 int64_t{sizeof(float)};
    check_fits(bytes);
    for (const bool keys : {false, true}) {
        std::vector<SideRead*> alike;
        for (SideRead& read : reads)
            if (read_alike(c, block) ? !keys : read.keys == keys) alike.push_back(&read);
        if (!alike.empty()) read_tokens(model, block, keys, alike, pool);
    }
    out.queries *= c.score_scale(c.stacks[at.stack], at.layer);
    return out;
}

Matrix output_logits(const Model& model, AttentionHead head, ThreadPool& pool) {
    const ModelConfig& c = model.config;
    const Index d = c.d_head(head.block);
    const Matrix o = input_rows(weights_of(model, head.block).o, head.head * d, d);
    Matrix x =
        scale_by_norm(c, model.weights.stacks.back().final_norm, written_through(model, head.block, o));
    x *= c.logit_scale;
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
    const AttentionWeights& w = weights_of(model_, head.block);
    Matrix x = embeddings_[at.stack];
    if (const Norm norm = norm_read(model_, head.block, false)) x = apply_norm(c, norm, x, pool);
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
