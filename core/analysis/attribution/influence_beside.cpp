// Compares attention with a map of influence by rank correlation.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/attribution/contribution.h"
#include "analysis/attribution/influence_map.h"
#include "base/cast.h"
#include "base/check.h"
#include "trace/head_group.h"

namespace headlight {

namespace {

/// Ranks from 1 on; equal values share their mean rank.
std::vector<double> ranks_of(std::span<const float> values) {
    std::vector<int> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) { return values[a] < values[b]; });
    std::vector<double> out(values.size());
    for (size_t first = 0, end = 0; first < order.size(); first = end) {
        while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
        for (size_t i = first; i < end; ++i) out[order[i]] = 0.5 * double(first + 1 + end);
    }
    return out;
}

/// Compares keys that a row of the map depends on or that are not masked in the attention.
void compare_ranks(const Matrix& map, AttentionBeside& out) {
    constexpr size_t kFewest = 3;
    double sum = 0;
    for (Index i = 0; i < map.rows(); ++i) {
        std::vector<float> x, y;
        for (Index j = 0; j < map.cols(); ++j)
            if (map(i, j) > 0 || out.weights(i, j) > 0) {
                x.push_back(map(i, j));
                y.push_back(std::max(out.weights(i, j), 0.0f));
            }
        const float r = x.size() < kFewest ? std::numeric_limits<float>::quiet_NaN() : rank_correlation(x, y);
        if (std::isnan(r)) continue;
        sum += r;
        ++out.rows;
    }
    out.correlation = out.rows ? float(sum / out.rows) : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace

float rank_correlation(std::span<const float> x, std::span<const float> y) {
    HEADLIGHT_CHECK(x.size() == y.size());
    const std::vector<double> a = ranks_of(x), b = ranks_of(y);
    const double mean = 0.5 * (double(a.size()) + 1);
    double both = 0, of_a = 0, of_b = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        both += (a[i] - mean) * (b[i] - mean);
        of_a += (a[i] - mean) * (a[i] - mean);
        of_b += (b[i] - mean) * (b[i] - mean);
    }
    return of_a > 0 && of_b > 0 ? float(both / std::sqrt(of_a * of_b))
                                : std::numeric_limits<float>::quiet_NaN();
}

Matrix of_keys(const Matrix& map, const Trace& trace, int block) {
    return map.middleCols(trace.first_token(trace.config().block(block).key_stack), trace.key_count(block));
}

void AttentionBesideRequest::clamp_to(const Trace& t) {
    block = nearest_block(t, block);
    head = nearest_head(t, block, head);
    const int layers = t.config().stacks[t.config().block(block).stack].depth();
    layer = layer < 0 ? layers - 1 : nearest(layer, layers);
    if (beside == InfluenceBeside::head || beside == InfluenceBeside::layer) layer = -1;
    if (beside != InfluenceBeside::head) head = 0;
}

Result<AttentionBeside> answer_attention_beside(const Runs& runs, const AttentionBesideRequest& request,
                                                ThreadPool& pool, const CancelFlag* cancel) {
    const Trace& trace = runs.shown;
    const int block = request.block, stack = trace.config().block(block).stack;
    AttentionBeside out{{}, std::numeric_limits<float>::quiet_NaN()};
    if (trace.query_count(block) + trace.key_count(block) > 2 * kMaxInfluenceTokens) return out;
    if (request.beside == InfluenceBeside::head) {
        out.weights = masked_pattern(trace, block, request.head);
    } else if (request.beside == InfluenceBeside::layer) {
        out.weights = mean_pattern(trace, block);
    } else {
        const bool contributions = request.beside == InfluenceBeside::contribution;
        TRY(const Matrix shares,
            shares_through(trace, stack, request.layer,
                           contributions ? contribution_shares(trace, {}, pool) : rollout_shares(trace, {}),
                           pool, cancel));
        out.weights = of_keys(shares, trace, block);
        out.weights = (out.weights.array() > 0).select(out.weights, kMasked);
    }
    if (request.map && request.map->asked.stack == stack &&
        request.map->norms.cols() == trace.token_count() &&
        request.map->norms.rows() == out.weights.rows())  // a map of an earlier text may have other columns
        compare_ranks(of_keys(request.map->norms, trace, block), out);
    return out;
}

}  // namespace headlight
