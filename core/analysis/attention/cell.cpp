// Reads one cell of one head.
#include "analysis/attention/cell.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/attention/shown.h"
#include "analysis/circuits/direct.h"
#include "base/cast.h"
#include "base/check.h"
#include "trace/head_group.h"

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
    r.rank = 1 + narrow<int>((row.row(0).array().abs() > std::abs(r.weight)).count());
    for (int key = 0; key < row.cols(); ++key) r.ranked += rule.mask_of(c.head).allowed(c.query, key);
    std::vector<int> order(row.cols());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return std::abs(row(0, a)) > std::abs(row(0, b)); });
    for (const int key : order)
        if (isize(r.row) < kRowKeys && (row(0, key) != 0 || rule.mask_of(c.head).has_weight(c.query, key)))
            r.row.push_back({key, row(0, key)});
    if (!rule.sinks.empty()) r.sink = sink_weight(rule, row.row(0));
}

void fill_tokens(const Trace& trace, ConstMatrixRef delta, CellReport& r, ThreadPool& pool) {
    const auto path = trace.config().block(r.cell.block).stack + 1 == isize(trace.config().stacks)
                          ? DirectPath::at(trace, r.cell.query, r.cell.block)
                          : std::nullopt;
    if (!path) return;
    const Vector logits = path->logits(delta, pool).row(0).transpose();
    r.promoted = ranked_ids(logits, kTokens);
    r.suppressed = ranked_ids(-logits, kTokens);
}

PerHead<float> weight_by_head(const Trace& trace, int block, int query, int key, ThreadPool& pool) {
    const ModelConfig& c = trace.config();
    PerHead<float> out(c, std::numeric_limits<float>::quiet_NaN());
    for_heads(c, pool, [&](AttentionHead other) {
        if (!read_alike(c, other.block, block)) return;
        out[other] = trace.pattern_rows(other.block, other.head, query, 1)(0, key);
    });
    return out;
}

}  // namespace

CellReport report_cell(const Trace& trace, const Cell& cell, bool tokens, ThreadPool& pool) {
    CellReport r;
    r.cell = cell;
    r.tokens_asked = tokens;
    HEADLIGHT_CHECK(cell.query >= 0 && cell.query < trace.query_count(cell.block) && cell.key >= 0 &&
                    cell.key < trace.key_count(cell.block));
    fill_row(trace, r);
    r.weight_by_head = weight_by_head(trace, cell.block, cell.query, cell.key, pool);
    if (!trace.has_weights()) return r;
    const Matrix results = trace.results(cell.block, cell.query, pool);
    const float layer_sum = results.rowwise().norm().sum();
    r.delta_norm = results.row(cell.head).norm();
    r.layer_share = layer_sum > 0 ? r.delta_norm / layer_sum : 0.0f;
    if (tokens && r.delta_norm > 0)
        fill_tokens(trace, trace.head_additions(cell.block, cell.query, pool).row(cell.head), r, pool);
    return r;
}

void CellWeightsRequest::clamp_to(const Trace& t) {
    block = nearest_block(t, block);
    query = nearest(query, t.query_count(block));
    key = nearest(key, t.key_count(block));
}

Result<PerHead<float>> answer_cell_weights(const Trace& trace, const CellWeightsRequest& r, ThreadPool& pool,
                                           const CancelFlag*) {
    return weight_by_head(trace, r.block, r.query, r.key, pool);
}

}  // namespace headlight
