// Computes the terms of scores that read the distance of query and key.
#include "model/mixers/disentangled.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/cast.h"
#include "base/memory.h"
#include "model/attention_products.h"
#include "model/forward.h"
#include "model/pass.h"

namespace headlight {

namespace {

/// Returns the signed logarithmic bucket of a distance: exact up to half of the buckets.
int bucket_of_distance(const DisentangledSpec& spec, int distance) {
    const int half = spec.buckets / 2, far = std::abs(distance);
    if (far <= half) return distance;
    const float share =
        std::log(float(far) / float(half)) / std::log(float(double(spec.max_distance - 1) / double(half)));
    const float beyond = std::min(std::ceil(share * float(half - 1)), float(spec.buckets));
    return (half + int(beyond)) * (distance > 0 ? 1 : -1);
}

/// Bounds the rows of the table that a tile of scores meets.
struct RowRange {
    int begin, end;
    Index size() const { return end - begin; }
};

RowRange rows_met(const DisentangledBias& bias, int first, Index queries, int first_key, Index keys) {
    const int last = first + narrow<int>(queries) - 1, last_key = first_key + narrow<int>(keys) - 1;
    // rows ascend with the distance query − key
    if (bias.positions.empty()) return {bias.row(first, last_key), bias.row(last, first_key) + 1};
    const auto at = bias.positions.begin();
    const auto [low, high] = std::minmax_element(at + first, at + last + 1);
    const auto [low_key, high_key] = std::minmax_element(at + first_key, at + last_key + 1);
    const int n = (isize(bias.rows) + 1) / 2;
    return {bias.rows[*low - *high_key + n - 1], bias.rows[*high - *low_key + n - 1] + 1};
}

/// Calls each(first, count) for blocks of keys, which meet few rows.
template <class Each>
void for_key_blocks(Index keys, const Each& each) {
    for (Index at = 0; at < keys; at += kBlockRows) each(at, std::min(kBlockRows, keys - at));
}

}  // namespace

int row_of_distance(const DisentangledSpec& spec, int distance) {
    const int row = spec.buckets ? bucket_of_distance(spec, distance) : distance;
    return std::clamp(row + spec.span, 0, 2 * spec.span - 1);
}

int DisentangledBias::row(int query, int key) const {
    const int distance = positions.empty() ? query - key : positions[query] - positions[key];
    return rows[distance + (isize(rows) + 1) / 2 - 1];
}

void DisentangledBias::add_to_position(int head, ConstMatrixRef q, int first, int first_key,
                                       MatrixRef scores) const {
    if (keys.size() == 0 || scores.size() == 0) return;
    const RowRange met = rows_met(*this, first, scores.rows(), first_key, scores.cols());
    Matrix products(q.rows(), met.size());
    multiply_keys(q, keys.columns(head * q.cols(), q.cols()), met.begin, products);
    for (int r = 0; r < scores.rows(); ++r)
        for (int c = 0; c < scores.cols(); ++c)
            scores(r, c) += products(r, row(first + r, first_key + c) - met.begin);
}

void DisentangledBias::add_from_position(int head, const Rows& k, float scale, int first, int first_key,
                                         MatrixRef scores) const {
    if (queries.size() == 0 || scores.size() == 0) return;
    const Rows vectors = queries.columns(head * k.cols(), k.cols());
    for_key_blocks(scores.cols(), [&](Index at, Index count) {
        const int begin = first_key + narrow<int>(at);
        const RowRange met = rows_met(*this, first, scores.rows(), begin, count);
        const Matrix own = k.middleRows(begin, count) * scale;
        Matrix products(count, met.size());
        multiply_keys(own, vectors, met.begin, products);
        for (int r = 0; r < scores.rows(); ++r)
            for (int c = 0; c < count; ++c)
                scores(r, at + c) += products(c, row(first + r, begin + c) - met.begin);
    });
}

void DisentangledBias::to_position_vjp(int head, ConstMatrixRef d, int first, int first_key,
                                       MatrixRef dq) const {
    if (keys.size() == 0 || d.size() == 0) return;
    const RowRange met = rows_met(*this, first, d.rows(), first_key, d.cols());
    Matrix by_row = Matrix::Zero(d.rows(), met.size());
    for (int r = 0; r < d.rows(); ++r)
        for (int c = 0; c < d.cols(); ++c) by_row(r, row(first + r, first_key + c) - met.begin) += d(r, c);
    dq += by_row * keys.columns(head * dq.cols(), dq.cols()).middleRows(met.begin, met.size());
}

void DisentangledBias::from_position_vjp(int head, ConstMatrixRef d, int first, int first_key,
                                         MatrixRef dk) const {
    if (queries.size() == 0 || d.size() == 0) return;
    const Rows vectors = queries.columns(head * dk.cols(), dk.cols());
    for_key_blocks(d.cols(), [&](Index at, Index count) {
        const int begin = first_key + narrow<int>(at);
        const RowRange met = rows_met(*this, first, d.rows(), begin, count);
        Matrix by_row = Matrix::Zero(count, met.size());
        for (int r = 0; r < d.rows(); ++r)
            for (int c = 0; c < count; ++c) by_row(c, row(first + r, begin + c) - met.begin) += d(r, at + c);
        dk.middleRows(at, count) += by_row * vectors.middleRows(met.begin, met.size());
    });
}

DisentangledBias disentangled_bias(const DisentangledSpec& spec, const AttentionWeights& weights, int n,
                                   const std::vector<int>& positions) {
    DisentangledBias out{weights.relative_keys, weights.relative_queries, {}, positions};
    out.rows.reserve(size_t(2 * n - 1));
    for (int distance = 1 - n; distance < n; ++distance) out.rows.push_back(row_of_distance(spec, distance));
    return out;
}

void project_distances(Model& model, ThreadPool& pool) {
    for (size_t s = 0; s < model.weights.stacks.size(); ++s) {
        StackWeights& stack = model.weights.stacks[s];
        if (!stack.relative_embedding) continue;
        const Linear& table = stack.relative_embedding;
        Matrix vectors(table.out, table.in);
        for (Index i = 0; i < vectors.rows(); ++i) table.read(i, 0, table.in, vectors.row(i).data());
        if (stack.relative_norm) vectors = apply_norm(model.config, stack.relative_norm, vectors, pool);
        for (size_t l = 0; l < stack.layers.size(); ++l) {
            const auto& spec = model.config.stacks[s].layers[l].attention.disentangled;
            AttentionWeights& w = stack.layers[l].self;
            if (!spec) continue;
            check_fits(2 * vectors.rows() * w.q.out * int64_t{sizeof(float)});
            if (spec->to_position)
                w.relative_keys = project(pool, vectors, spec->shared ? w.k : w.relative_key);
            if (spec->from_position)
                w.relative_queries = project(pool, vectors, spec->shared ? w.q : w.relative_query);
        }
    }
}

}  // namespace headlight
