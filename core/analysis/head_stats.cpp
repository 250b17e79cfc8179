// Statistics of attention patterns. Previous-token, duplicate-token and induction heads: Elhage et al. 2021,
// "A Mathematical Framework for Transformer Circuits", and Olsson et al. 2022, "In-context Learning and Induction Heads".
#include "analysis/head_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace headlight {

namespace {

constexpr float kUndefined = std::numeric_limits<float>::quiet_NaN();

Eigen::Map<const Eigen::ArrayXf> as_array(std::span<const float> row) { return {row.data(), static_cast<Index>(row.size())}; }

float entropy(std::span<const float> row, int, std::span<const int>) {
    const auto p = as_array(row);
    return -(p * p.max(1e-30f).log()).sum() / std::log(2.0f);
}

float distance(std::span<const float> row, int q, std::span<const int>) {
    const auto p = as_array(row);
    return (p * (Eigen::ArrayXf::LinSpaced(p.size(), 0, static_cast<float>(p.size() - 1)) - static_cast<float>(q)).abs()).sum();
}

float previous(std::span<const float> row, int q, std::span<const int>) { return q > 0 ? row[static_cast<size_t>(q) - 1] : kUndefined; }
float first(std::span<const float> row, int q, std::span<const int>) { return q > 0 ? row[0] : kUndefined; }
float self(std::span<const float> row, int q, std::span<const int>) { return row[static_cast<size_t>(q)]; }

float duplicate(std::span<const float> row, int q, std::span<const int> ids) {
    float sum = 0;
    bool seen = false;
    for (size_t k = 0; k < static_cast<size_t>(q); ++k)
        if (ids[k] == ids[static_cast<size_t>(q)]) {
            sum += row[k];
            seen = true;
        }
    return seen ? sum : kUndefined;
}

float induction(std::span<const float> row, int q, std::span<const int> ids) {
    float sum = 0;
    bool seen = false;
    for (size_t k = 1; k < static_cast<size_t>(q); ++k)
        if (ids[k - 1] == ids[static_cast<size_t>(q)]) {
            sum += row[k];
            seen = true;
        }
    return seen ? sum : kUndefined;
}

constexpr HeadStatistic kTable[kStatistics] = {
    {"entropy", "entropy", "bits", "Entropy of each query's row, in bits: 0 looks at one key, log2 n at all alike.", true, entropy},
    {"previous", "previous token", "", "Weight on the key just before the query (Elhage et al. 2021).", false, previous},
    {"induction", "induction", "", "Weight on keys that follow an earlier copy of the query's token (Olsson et al. 2022); needs a token that repeats.", false, induction},
    {"first", "first token", "", "Weight on key 0, for later queries: the attention sink (Xiao et al. 2023).", false, first},
    {"duplicate", "duplicate token", "", "Weight on earlier copies of the query's own token; needs a token that repeats.", false, duplicate},
    {"self", "self", "", "Weight of each query on itself: the diagonal.", false, self},
    {"distance", "mean distance", "tokens", "Distance from query to key, averaged by weight.", true, distance},
};

void reduce_row(std::span<const float> row, int q, const MaskPlan& mask, int n, Matrix& thumbnail) {
    const int t = static_cast<int>(thumbnail.rows());
    const int at = static_cast<int>(((int64_t{q} + 1) * t - 1) / n);  // the entry whose rows include q
    const int end = mask.end[static_cast<size_t>(q)];
    const bool every = mask.prefix[static_cast<size_t>(q)];
    for (int c = 0; c < t; ++c) {
        float& entry = thumbnail(at, c);
        for (int k = cover(c, t, n), last = std::min(end, cover(c + 1, t, n)); k < last; ++k)
            if (every || mask.allows(q, k)) entry = std::max(entry, row[static_cast<size_t>(k)]);
    }
}

HeadSummary summarize(const Trace& trace, int layer, int head, int t) {
    constexpr int kBlock = 64;
    const int n = trace.size();
    HeadSummary out{{}, Matrix::Constant(t, t, -1.0f)};
    std::array<double, kStatistics> sums{};
    std::array<int, kStatistics> counts{};
    for (int block = 0; block < n; block += kBlock) {
        const Matrix rows = trace.pattern_rows(layer, head, block, std::min(kBlock, n - block));
        for (int i = 0; i < rows.rows(); ++i) {
            const std::span<const float> row(rows.row(i).data(), static_cast<size_t>(n));
            for (size_t s = 0; s < kStatistics; ++s) {
                const float value = kTable[s].of_query(row, block + i, trace.request.ids);
                if (std::isnan(value)) continue;
                sums[s] += value;
                ++counts[s];
            }
            reduce_row(row, block + i, trace.activations.mask, n, out.thumbnail);
        }
    }
    for (size_t s = 0; s < kStatistics; ++s) out.statistics[s] = counts[s] ? static_cast<float>(sums[s] / counts[s]) : kUndefined;
    return out;
}

}  // namespace

std::span<const HeadStatistic> head_statistics() { return kTable; }

const HeadStatistic* find_statistic(std::string_view key) {
    for (const auto& s : kTable)
        if (key == s.key) return &s;
    return nullptr;
}

Result<std::vector<HeadSummary>> summarize_heads(const Trace& trace, int thumbnail, ThreadPool& pool, const CancelFlag* cancel) {
    const int heads = trace.config().heads, t = std::min(thumbnail, trace.size());
    std::vector<HeadSummary> out(static_cast<size_t>(trace.config().layers * heads));
    pool.run(static_cast<int>(out.size()), [&](int i) {
        if (!cancel || !cancel->load(std::memory_order_relaxed)) out[static_cast<size_t>(i)] = summarize(trace, i / heads, i % heads, t);
    });
    if (cancel && cancel->load(std::memory_order_relaxed)) return Error{"Cancelled."};
    return out;
}

std::vector<int> repeated_random_ids(int vocab, int length, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<int> ids(static_cast<size_t>(length));
    for (int& id : ids) id = static_cast<int>(random() % static_cast<uint64_t>(vocab));
    ids.insert(ids.end(), ids.begin(), ids.end());
    return ids;
}

}  // namespace headlight
