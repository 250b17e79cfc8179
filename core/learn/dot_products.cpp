// Samples and measures dot products.
#include "learn/dot_products.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/draws.h"
#include "learn/normalizers.h"
#include "learn/score_function_table.h"
#include "model/attention.h"

namespace headlight {

Spread spread_of(std::span<const double> numbers) {
    Spread out;
    const auto n = double(numbers.size());
    if (n < 2) return out;
    for (const double x : numbers) out.mean += x / n;
    double second = 0, fourth = 0;
    for (const double x : numbers) {
        const double square = (x - out.mean) * (x - out.mean);
        second += square;
        fourth += square * square / n;
    }
    out.variance = second / (n - 1);
    const double of_error = (fourth - out.variance * out.variance * (n - 3) / (n - 1)) / n;
    out.error = n < 4 ? 0 : std::sqrt(std::max(0.0, of_error));
    return out;
}

std::vector<double> sampled_products(int d, int draws, unsigned seed) {
    Draws random(seed);
    std::vector<double> out(draws);
    for (double& product : out)
        for (int i = 0; i < d; ++i) {
            const double q = random.normal(), k = random.normal();
            product += q * k;
        }
    return out;
}

Softness softness_of(const Vector& weights) {
    const auto a = weights.cast<double>().array();
    const double squares = a.square().sum(), gradient = squares - 2 * a.cube().sum() + squares * squares;
    return {entropy_bits(weights), std::sqrt(std::max(0.0, gradient))};
}

namespace {

constexpr int kMaxQueries = 128;

/// Adds `share` of a row's softness to both sums.
void add_softness(const Vector& products, float scale, double share, SoftnessPair& sum) {
    const auto add = [&](Softness& into, float by) {
        const Softness s = softness_of(softmax_weights(by * products));
        into.entropy += share * s.entropy;
        into.gradient += share * s.gradient;
    };
    add(sum.divided, scale);
    add(sum.plain, 1);
}

/// Returns q · k of one query and the keys that it may attend to.
Vector seen_products(const MaskPlan& mask, const Rows& q, const Matrix& k, int query) {
    const Vector all = k * q.row(query).transpose();
    std::vector<int> seen;
    for (int key = 0; key < all.size(); ++key)
        if (mask.has_weight(query, key)) seen.push_back(key);
    return all(seen);
}

}  // namespace

SoftnessPair sampled_softness(int d, int keys, int queries, unsigned seed) {
    Draws random(seed);
    SoftnessPair sum;
    for (int i = 0; i < queries; ++i) {
        const float length = normal_matrix(1, d, 1, random).norm();  // of q
        const Vector products = normal_matrix(keys, 1, length, random);
        add_softness(products, 1 / std::sqrt(float(d)), 1.0 / queries, sum);
    }
    return sum;
}

Softness sampled_additive_softness(int d, int keys, int queries, unsigned seed) {
    Draws random(seed);
    const ScoreParameters parameters = ScoreParameters::random(d, keys, seed);
    const auto additive = score_functions()[static_cast<int>(ScoreFunction::additive)].scores;
    Softness sum;
    for (int i = 0; i < queries; ++i) {
        const Matrix q = normal_matrix(1, d, 1, random), k = normal_matrix(keys, d, 1, random);
        const Softness s = softness_of(softmax_weights(additive(q, k, parameters).row(0).transpose()));
        sum.entropy += s.entropy / queries;
        sum.gradient += s.gradient / queries;
    }
    return sum;
}

HeadProducts head_products(const Trace& trace, int block, int head) {
    const AttentionRule& rule = trace.rule(block);
    const Rows q = trace.q(block, head);
    const Matrix k = trace.k(block, head).all();
    const int n = trace.query_count(block), count = std::min(n, kMaxQueries);
    HeadProducts out{.products = {}, .scale = rule.scale, .softness = {}, .pairs = 0};
    std::vector<double> products;
    SoftnessPair sum;
    int rows = 0;
    for (int i = 0; i < count; ++i) {
        const int query = narrow<int>(int64_t{i} * n / count);
        const Vector row = seen_products(rule.mask_of(head), q, k, query);
        products.insert(products.end(), row.begin(), row.end());
        if (row.size() < 2) continue;
        add_softness(row, rule.scale, 1, sum);
        ++rows;
    }
    for (Softness* s : {&sum.divided, &sum.plain}) {
        s->entropy /= std::max(1, rows);
        s->gradient /= std::max(1, rows);
    }
    out.products = spread_of(products);
    out.softness = sum;
    out.pairs = isize(products);
    return out;
}

}  // namespace headlight
