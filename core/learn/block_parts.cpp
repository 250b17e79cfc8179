// Recomputes the parts of an attention block for one token.
#include "learn/block_parts.h"

#include <cmath>

namespace headlight {

namespace {

struct PartsOfBlock {
    const Trace& trace;
    AttentionHead head;
    int query;
    ThreadPool& pool;
    std::vector<BlockPart> out;

    int queries() const { return trace.query_count(head.block); }
    int keys() const { return trace.key_count(head.block); }
    const ModelConfig& config() const { return trace.config(); }

    void add(std::string name, std::vector<int> shape, Vector values) {
        out.push_back({std::move(name), std::move(shape), std::move(values)});
    }
    void add_wide(std::string name, Vector values) {
        const int width = narrow<int>(values.size());
        add(std::move(name), {1, queries(), width}, std::move(values));
    }
    void add_norm(const Norm& norm, const Vector& x) {
        if (!norm) return;
        const char* name = config().norm == NormKind::layer_norm ? "LayerNorm" : "RMSNorm";
        add_wide(std::string(name) + ", before its weight", normalized_alone(config(), x));
        add_wide(name, apply_norm(config(), norm, x.transpose(), pool).row(0).transpose());
    }
    void add_heads() {
        const AttentionActivations& a = trace.attention(head.block);
        const AttentionRule& rule = trace.rule(head.block);
        const int d = config().d_head(head.block), d_value = config().d_value(head.block), h = rule.heads,
                  shared = rule.kv_heads, key = std::min(query, keys() - 1);
        const bool cross = config().block(head.block).kind == AttentionKind::cross;
        const std::string of = cross ? " of the source" : "";
        add_wide("q = X · W_q", a.q.row(query).transpose());
        add("q, split into heads", {1, h, queries(), d},
            trace.q(head.block, head.head).row(query).transpose());
        add("k" + of + ", split into heads", {1, shared, keys(), d},
            trace.k(head.block, head.head).row(key).transpose());
        add("v" + of + ", split into heads", {1, shared, keys(), d_value},
            trace.v(head.block, head.head).row(key).transpose());
        add("attention = softmax(q · kᵀ ÷ √d)", {1, h, queries(), keys()},
            trace.pattern_rows(head.block, head.head, query, 1).row(0).transpose());
        const Matrix z = trace.z(head.block, query, 1, pool);
        add("attention · v", {1, h, queries(), d_value},
            z.row(0).segment(Index{head.head} * d_value, d_value).transpose());
        add_wide("heads side by side", z.row(0).transpose());
    }
};

}  // namespace

float BlockPart::deviation() const { return std::sqrt((values.array() - values.mean()).square().mean()); }

std::string shape_name(const std::vector<int>& shape) {
    std::string out;
    for (const int side : shape) out += (out.empty() ? "" : " × ") + std::to_string(side);
    return out;
}

Vector normalized_alone(const ModelConfig& config, const Vector& x) {
    const float mean = config.norm == NormKind::layer_norm ? x.mean() : 0.0f,
                variance = (x.array() - mean).square().mean();
    return (x.array() - mean) / std::sqrt(variance + config.norm_eps);
}

std::vector<BlockPart> block_parts(const Trace& trace, AttentionHead head, int query, ThreadPool& pool) {
    PartsOfBlock parts{trace, head, query, pool, {}};
    const AttentionWeights& w = trace.weights(head.block);
    const Vector x = trace.resid_before(head.block, pool).row(query).transpose();
    const bool after = trace.config().layer_of(head.block).norms_sum();
    parts.add_wide("input X", x);
    if (!after && w.norm) parts.add_norm(w.norm, x);
    parts.add_heads();
    const Vector added = trace.attn_out(head.block, query, 1, pool).row(0).transpose();
    parts.add_wide("output = heads · W_O", added);
    parts.add_wide("residual = X + output", x + added);
    if (after) parts.add_norm(w.norm, x + added);
    return std::move(parts.out);
}

}  // namespace headlight
