#include "analysis/cell.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace headlight {

namespace {

constexpr int kRowKeys = 6, kTokens = 3;

void fill_row(const Trace& trace, CellReport& r) {
    const Cell& c = r.cell;
    const AttentionRule& rule = trace.rule(c.site);
    const Matrix row = trace.pattern_rows(c.site, c.head, c.query, 1);
    Matrix score(1, 1);
    attention_scores(rule, c.head, trace.q(c.site, c.head), trace.k(c.site, c.head), c.query, c.key, score);
    r.weight = row(0, c.key);
    r.dot = trace.q(c.site, c.head).row(c.query).dot(trace.k(c.site, c.head).row(c.key));
    r.scaled = r.dot * rule.scale;
    r.score = score(0, 0);
    r.allowed = rule.mask.allows(c.query, c.key);
    r.rank = 1 + static_cast<int>((row.row(0).array() > r.weight).count());
    std::vector<int> order(static_cast<size_t>(row.cols()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return row(0, a) > row(0, b); });
    for (const int key : order)
        if (static_cast<int>(r.row.size()) < kRowKeys && rule.mask.allows(c.query, key)) r.row.push_back({key, row(0, key)});
}

/// Whether what a block adds reaches the logits through nothing but a norm and a matrix.
bool leads_to_logits(const Trace& trace, int site) {
    const ModelConfig& c = trace.config();
    const bool last_stack = c.site(site).stack + 1 == static_cast<int>(c.stacks.size());
    return last_stack && c.norm_place == NormPlace::before && !c.branch_norm && !c.masked_head && c.kind != ModelKind::vision && trace.model->has_logits() && trace.model->weights.stacks.back().final_norm;
}

void fill_tokens(const Trace& trace, const Vector& delta, CellReport& r, ThreadPool& pool) {
    const Eigen::Map<const Vector> gain(trace.model->weights.stacks.back().final_norm.gain, delta.size());
    const float mean = trace.config().norm == NormKind::layer_norm ? delta.mean() : 0.0f;
    const Matrix direction = ((delta.array() - mean) * gain.array()).matrix().transpose();
    Linear head = trace.model->weights.unembedding;
    head.bias = nullptr;
    Matrix logits(1, head.out);
    if (const Linear& dense = trace.model->weights.head_dense) {
        Matrix narrow(1, dense.out);
        apply_linear(pool, direction, dense, narrow);
        apply_linear(pool, narrow, head, logits);
    } else {
        apply_linear(pool, direction, head, logits);
    }
    std::vector<int> order(static_cast<size_t>(logits.cols()));
    std::iota(order.begin(), order.end(), 0);
    const auto count = std::min<std::ptrdiff_t>(kTokens, logits.cols());
    const auto top = [&](auto less) {
        std::partial_sort(order.begin(), order.begin() + count, order.end(), less);
        return std::vector<int>(order.begin(), order.begin() + count);
    };
    r.raises = top([&](int a, int b) { return logits(0, a) > logits(0, b); });
    r.lowers = top([&](int a, int b) { return logits(0, a) < logits(0, b); });
}

/// The same cell in every head whose block reads the same two sequences.
void fill_heads(const Trace& trace, CellReport& r, ThreadPool& pool) {
    const ModelConfig& c = trace.config();
    const AttentionSite here = c.site(r.cell.site);
    r.weight_by_head.assign(static_cast<size_t>(c.sites() * c.heads), std::numeric_limits<float>::quiet_NaN());
    pool.run(static_cast<int>(r.weight_by_head.size()), [&](int i) {
        const AttentionSite there = c.site(i / c.heads);
        if (there.stack != here.stack || there.key_stack() != here.key_stack()) return;
        r.weight_by_head[static_cast<size_t>(i)] = trace.pattern_rows(i / c.heads, i % c.heads, r.cell.query, 1)(0, r.cell.key);
    });
}

}  // namespace

CellReport report_cell(const Trace& trace, const Cell& cell, ThreadPool& pool) {
    CellReport r;
    r.cell = cell;
    fill_row(trace, r);
    const Matrix results = trace.results(cell.site, cell.query, pool);
    const float layer_sum = results.rowwise().norm().sum();
    r.delta_norm = results.row(cell.head).norm();
    r.layer_share = layer_sum > 0 ? r.delta_norm / layer_sum : 0.0f;
    if (leads_to_logits(trace, cell.site)) fill_tokens(trace, results.row(cell.head).transpose(), r, pool);
    fill_heads(trace, r, pool);
    return r;
}

}  // namespace headlight
