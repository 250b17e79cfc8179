// Statistics of attention patterns. Previous-token, duplicate-token and induction heads: Elhage et al. 2021,
// "A Mathematical Framework for Transformer Circuits", and Olsson et al. 2022, "In-context Learning and
// Induction Heads".
#include "analysis/head_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "base/cast.h"

namespace headlight {

namespace {

constexpr float kUndefined = std::numeric_limits<float>::quiet_NaN();

Eigen::Map<const Eigen::ArrayXf> as_array(std::span<const float> row) {
    return {row.data(), std::ssize(row)};
}

float entropy(std::span<const float> row, int, std::span<const int>) {
    const auto p = as_array(row);
    return -(p * p.max(1e-30f).log()).sum() / std::log(2.0f);
}

float distance(std::span<const float> row, int q, std::span<const int>) {
    const auto p = as_array(row);
    return (p * (Eigen::ArrayXf::LinSpaced(p.size(), float(-q), float(p.size() - 1 - q))).abs()).sum();
}

/// The weight of key k; keys past the visible ones weigh nothing.
float at(std::span<const float> row, int k) { return k < isize(row) ? row[k] : 0.0f; }

float previous(std::span<const float> row, int q, std::span<const int>) {
    return q > 0 ? at(row, q - 1) : kUndefined;
}
float first(std::span<const float> row, int q, std::span<const int>) {
    return q > 0 ? at(row, 0) : kUndefined;
}
float self(std::span<const float> row, int q, std::span<const int>) { return at(row, q); }

/// Weight on the keys [shift, q) whose token `shift` places before them is the query's. Counting first keeps
/// the usual case, no such key, in whole vectors.
float weight_of_copies(std::span<const float> row, int q, std::span<const int> ids, int shift) {
    const int id = ids[q];
    const std::span<const int> earlier = ids.first(std::max(0, q - shift));
    int copies = 0;
    for (const int other : earlier) copies += other == id;
    if (!copies) return kUndefined;
    float sum = 0;
    for (int k = 0; k < isize(earlier); ++k)
        if (earlier[k] == id) sum += at(row, k + shift);
    return sum;
}

float duplicate(std::span<const float> row, int q, std::span<const int> ids) {
    return weight_of_copies(row, q, ids, 0);
}
float induction(std::span<const float> row, int q, std::span<const int> ids) {
    return weight_of_copies(row, q, ids, 1);
}

constexpr HeadStatistic kTable[kStatistics] = {
    {"entropy", "entropy", "bits",
     "Entropy of each query's row, in bits: 0 means one key, log2 n all keys uniformly.", true, false,
     entropy},
    {"previous", "previous token", "", "Weight on the key just before the query (Elhage et al. 2021).", false,
     true, previous},
    {"induction", "induction", "",
     "Weight on keys that follow an earlier copy of the query's token (Olsson et al. 2022); needs a token "
     "that repeats.",
     false, true, induction},
    {"first", "first token", "", "Weight on key 0, for later queries: the attention sink (Xiao et al. 2023).",
     false, false, first},
    {"duplicate", "duplicate token", "",
     "Weight on earlier copies of the query's own token; needs a token that repeats.", false, true,
     duplicate},
    {"self", "self", "", "Weight of each query on itself: the diagonal.", false, true, self},
    {"distance", "mean distance", "tokens", "Distance from query to key, averaged by weight.", true, true,
     distance},
};

}  // namespace

std::span<const HeadStatistic> head_statistics() { return kTable; }

const HeadStatistic* find_statistic(std::string_view key) {
    for (const auto& s : kTable)
        if (key == s.key) return &s;
    return nullptr;
}

std::vector<int> order_by(const std::vector<float>& values, bool ascending) {
    std::vector<int> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        const float x = values[a], y = values[b];
        if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
        return ascending ? x < y : x > y;
    });
    return order;
}

std::vector<int> repeated_random_ids(int vocab, int length, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<int> ids(length);
    for (int& id : ids) id = narrow<int>(random() % vocab);
    ids.insert(ids.end(), ids.begin(), ids.end());
    return ids;
}

}  // namespace headlight
