#include "analysis/cell.h"

#include <algorithm>
#include <numeric>

namespace headlight {

namespace {

constexpr int kRowKeys = 6, kTokens = 3;

void fill_row(const Trace& trace, CellReport& r) {
    const Cell& c = r.cell;
    const Matrix row = trace.pattern_rows(c.layer, c.head, c.query, 1);
    r.weight = row(0, c.key);
    r.dot = trace.q(c.layer, c.head).row(c.query).dot(trace.k(c.layer, c.head).row(c.key));
    r.score = r.dot * trace.config().score_scale(c.layer);
    r.allowed = trace.activations.mask.allows(c.query, c.key);
    r.rank = 1 + static_cast<int>((row.row(0).array() > r.weight).count());
    std::vector<int> order(static_cast<size_t>(trace.size()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return row(0, a) > row(0, b); });
    for (const int key : order)
        if (static_cast<int>(r.row.size()) < kRowKeys && trace.activations.mask.allows(c.query, key)) r.row.push_back({key, row(0, key)});
}

void fill_tokens(const Trace& trace, const Vector& delta, CellReport& r, ThreadPool& pool) {
    const Eigen::Map<const Vector> gain(trace.model->weights.final_norm.gain, delta.size());
    const Matrix direction = ((delta.array() - delta.mean()) * gain.array()).matrix().transpose();
    const Matrix logits = unembed(*trace.model, direction, pool);
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

}  // namespace

CellReport report_cell(const Trace& trace, const Cell& cell, ThreadPool& pool) {
    CellReport r;
    r.cell = cell;
    fill_row(trace, r);
    const int heads = trace.config().heads;
    float layer_sum = 0;
    Vector delta;
    for (int h = 0; h < heads; ++h) {
        Vector result = trace.result(cell.layer, h, cell.query);
        layer_sum += result.norm();
        if (h == cell.head) delta = std::move(result);
    }
    r.delta_norm = delta.norm();
    r.layer_share = layer_sum > 0 ? r.delta_norm / layer_sum : 0.0f;
    fill_tokens(trace, delta, r, pool);
    r.weight_by_head.resize(static_cast<size_t>(trace.config().layers * heads));
    pool.run(static_cast<int>(r.weight_by_head.size()), [&](int i) {
        r.weight_by_head[static_cast<size_t>(i)] = trace.pattern_rows(i / heads, i % heads, cell.query, 1)(0, cell.key);
    });
    return r;
}

}  // namespace headlight
