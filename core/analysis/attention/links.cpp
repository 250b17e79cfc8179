// Selects the heaviest links of heads.
#include "analysis/attention/links.h"

#include <algorithm>
#include <numeric>

namespace headlight {

std::vector<Link> heaviest_links(const float* row, const KeyRange& keys, float share, int max, float sink) {
    std::vector<int> order(keys.size());
    std::iota(order.begin(), order.end(), keys.begin);
    const auto middle = order.begin() + std::min<std::ptrdiff_t>(max, keys.size());
    std::partial_sort(order.begin(), middle, order.end(),
                      [&](int a, int b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
    std::vector<Link> out;
    float mass = 0;
    for (auto it = order.begin(); it != middle && row[*it] > 0; ++it) {
        if (mass + (sink > row[*it] ? sink : 0) >= share) break;
        out.push_back({*it, row[*it]});
        mass += row[*it];
    }
    return out;
}

bool LayerLinks::draws_sink(int head, int query, float share) const {
    if (sinks.empty()) return false;
    const float weight = sinks[size_t(head)][query];
    float heavier = 0;
    for (const Link& link : of_head[size_t(head)][size_t(query)])
        if (link.weight >= weight) heavier += link.weight;
    return weight > 0 && heavier < share;
}

Result<LayerLinks> answer_links(const Trace& trace, const LinksRequest& w, ThreadPool& pool,
                                const CancelFlag* cancel) {
    constexpr int kBlock = 64, kMax = 32;
    const int n = trace.query_count(w.block), heads = trace.config().heads(w.block);
    const AttentionRule& rule = trace.rule(w.block);
    LayerLinks links;
    links.of_head.assign(heads, std::vector<std::vector<Link>>(n));
    if (!rule.sinks.empty()) links.sinks.assign(size_t(heads), Vector::Zero(n));
    const CancelScope scope(pool, cancel);
    pool.run(heads, [&](int h) {
        for (int first = 0; first < n && !pool.stopped(); first += kBlock) {
            const Matrix rows = shares_of_keys(trace, {w.block, h}, first, std::min(kBlock, n - first));
            for (int i = 0; i < rows.rows(); ++i) {
                const float sink = sink_weight(rule, rows.row(i));
                if (!links.sinks.empty()) links.sinks[size_t(h)][first + i] = sink;
                links.of_head[h][first + i] =
                    heaviest_links(rows.row(i).data(), rule.weight_range(h, first + i), w.share, kMax, sink);
            }
        }
    });
    return links;
}

void LinksRequest::clamp_to(const Trace& t) { block = nearest_block(t, block); }
bool LinksRequest::valid_for(const Shown& shown) const { return block == shown.block; }

}  // namespace headlight
