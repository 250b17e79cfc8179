// Computes statistics of attention patterns. Previous-token, duplicate-token and induction heads: Elhage et
// al. 2021, "A Mathematical Framework for Transformer Circuits", and Olsson et al. 2022, "In-context Learning
// and Induction Heads".
#include "analysis/attention/head_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <unordered_map>

#include "kernels/choice.h"

namespace headlight {

namespace {

constexpr float kUndefined = std::numeric_limits<float>::quiet_NaN();

float entropy(const QueryRow& row) {
    const float keys = kernels().entropy(row.weights.data(), isize(row.weights));
    return row.sink > 0 ? keys - row.sink * std::log2(row.sink) : keys;
}

float distance(const QueryRow& row) {
    const float sum = kernels().distance(row.weights.data(), isize(row.weights), row.first_key - row.query);
    if (row.sink == 0) return sum;
    return row.sink < 1 ? sum / (1 - row.sink) : kUndefined;
}

float previous(const QueryRow& row) { return row.query > 0 ? row.weight(row.query - 1) : kUndefined; }
float first(const QueryRow& row) { return row.query > 0 ? row.weight(0) : kUndefined; }
float self(const QueryRow& row) { return row.weight(row.query); }

/// Sums the weight on keys `shift` positions after earlier copies of the query's token, before the query.
float weight_of_copies(const QueryRow& row, int shift) {
    int copy = row.last_copies[row.query];
    while (copy >= 0 && copy >= row.query - shift) copy = row.last_copies[copy];
    if (copy < 0) return kUndefined;
    float sum = 0;
    for (; copy >= 0; copy = row.last_copies[copy]) sum += row.weight(copy + shift);
    return sum;
}

float duplicate(const QueryRow& row) { return weight_of_copies(row, 0); }
float induction(const QueryRow& row) { return weight_of_copies(row, 1); }

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

std::vector<int> last_copies(std::span<const int> ids) {
    std::vector<int> out;
    std::unordered_map<int, int> places;
    for (int i = 0; i < isize(ids); ++i) {
        const auto [place, fresh] = places.try_emplace(ids[i], i);
        out.push_back(fresh ? -1 : place->second);
        place->second = i;
    }
    return out;
}

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

std::vector<int> order_by_size(std::span<const float> values) {
    std::vector<float> sizes;
    for (const float v : values) sizes.push_back(std::abs(v));
    return order_by(sizes, false);
}

std::vector<int> repeated_random_ids(int vocab, int length, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<int> ids(length);
    for (int& id : ids) id = narrow<int>(random() % vocab);
    ids.insert(ids.end(), ids.begin(), ids.end());
    return ids;
}

}  // namespace headlight
