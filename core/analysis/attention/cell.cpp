// Reads one cell of one head.
#include "analysis/attention/cell.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "analysis/circuits/direct.h"
#include "base/cast.h"
#include "base/check.h"

namespace headlight {

namespace {

constexpr int kRowKeys = 6, kTokens = 3;

void fill_row(const Trace& trace, CellReport& r) {
    const Cell& c = r.cell;
    const AttentionRule& rule = trace.rule(c.block);
    const Matrix row = trace.pattern_rows(c.block, c.head, c.query, 1);
    r.weight = row(0, c.key);
    static_cast<ScoreSteps&>(r) = score_steps(trace, {c.block, c.head}, c.query, c.key, 1).front();
    r.weights_by = weights_by(rule, c.head, c.query);
    r.temperature = rule.temperature_of(c.head);
    r.allowed = rule.mask_of(c.head).allowed(c.query, c.key);
    r.rank = 1 + narrow<int>((row.row(0).array() > r.weight).count());
    for (int key = 0; key < row.cols(); ++key) r.ranked += rule.mask_of(c.head).allowed(c.query, key);
    std::vector<int> order(row.cols());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return row(0, a) > row(0, b); });
    for (const int key : order)
        if (isize(r.row) < kRowKeys && (row(0, key) > 0 || rule.mask_of(c.head).has_weight(c.query, key)))
            r.row.push_back({key, row(0, key)});
}

void fill_tokens(const Trace& trace, ConstMatrixRef delta, CellReport& r, ThreadPool& pool) {
    const auto path = trace.config().block(r.cell.block).stack + 1 == isize(trace.config().stacks)
                          ? DirectPath::at(trace, r.cell.query)
                          : std::nullopt;
    if (!path) return;
    const Vector logits = path->logits(delta, pool).row(0).transpose();
    r.promoted = ranked_ids(logits, kTokens);
    r.suppressed = ranked_ids(-logits, kTokens);
}

/// Fills in the same cell of every head whose block reads the same two sequences.
void fill_heads(const Trace& trace, CellReport& r, ThreadPool& pool) {
    const ModelConfig& c = trace.config();
    const AttentionBlock here = c.block(r.cell.block);
    r.weight_by_head = PerHead<float>(c, std::numeric_limits<float>::quiet_NaN());
    for_heads(c, pool, [&](AttentionHead other) {
        const AttentionBlock there = c.block(other.block);
        if (there.stack != here.stack || there.key_stack() != here.key_stack()) return;
        r.weight_by_head[other] = trace.pattern_rows(other.block, other.head, r.cell.query, 1)(0, r.cell.key);
    });
}

}  // namespace

CellReport report_cell(const Trace& trace, const Cell& cell, bool tokens, ThreadPool& pool) {
    CellReport r;
    r.cell = cell;
    r.tokens_asked = tokens;
    HEADLIGHT_CHECK(cell.query >= 0 && cell.query < trace.query_count(cell.block) && cell.key >= 0 &&
                    cell.key < trace.key_count(cell.block));
    fill_row(trace, r);
    fill_heads(trace, r, pool);
    if (!trace.has_weights()) return r;
    const Matrix results = trace.results(cell.block, cell.query, pool);
    const float layer_sum = results.rowwise().norm().sum();
    r.delta_norm = results.row(cell.head).norm();
    r.layer_share = layer_sum > 0 ? r.delta_norm / layer_sum : 0.0f;
    if (tokens && r.delta_norm > 0)
        fill_tokens(trace, trace.head_additions(cell.block, cell.query, pool).row(cell.head), r, pool);
    return r;
}

}  // namespace headlight
