// Scores, mask, softmax, weighted values. Views that show a head later call these same functions on the same
// q and k.
#include "model/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/cast.h"
#include "base/check.h"
#include "kernels/choice.h"
#include "model/linear_here.h"

namespace headlight {

namespace {

/// The keys that a block of one head's queries needs: those it may weigh, or all where weights are given.
/// They begin where the lanes of the kernels' sums do.
KeyRange needed_keys(const AttentionRule& rule, int head, int first, int last) {
    if (rule.given_pattern(head)) return {0, rule.mask.keys};
    const KeyRange keys = rule.mask_of(head).weighed(first, last);
    return {keys.begin - keys.begin % int{kSumLanes}, keys.end};
}

}  // namespace

int bucket_of(const RelativeBuckets& b, int apart, bool causal) {
    int count = b.count, bucket = 0;
    if (!causal) {
        count /= 2;
        if (apart > 0) bucket = count;
        apart = std::abs(apart);
    } else {
        apart = std::max(-apart, 0);
    }
    const int exact = count / 2;
    if (apart < exact) return bucket + apart;
    const float share =
        std::log(float(apart) / float(exact)) / std::log(float(b.max_distance) / float(exact));
    return bucket + std::min(exact + int(share * float(count - exact)), count - 1);
}

void PositionBias::add(int head, int first, int first_key, MatrixRef scores) const {
    const int queries = narrow<int>(by_distance.cols() + 1) / 2;  // self-attention: as many keys as queries
    for (int r = 0; r < scores.rows(); ++r) {
        if (by_key.size()) scores.row(r) += by_key.row(head).segment(first_key, scores.cols());
        if (by_distance.size() && positions.empty())
            scores.row(r) +=
                by_distance.row(head).segment(first_key - (first + r) + queries - 1, scores.cols());
        for (int i = 0; i < scores.cols() && !positions.empty(); ++i)
            scores(r, i) += by_distance(head, positions[first_key + i] - positions[first + r] + queries - 1);
    }
}

PositionBias alibi_bias(int heads, int keys) {
    PositionBias bias;
    bias.by_key.resize(heads, keys);
    int power = 1;
    while (2 * power <= heads) power *= 2;
    for (int h = 0; h < heads; ++h) {
        const double slope = h < power ? std::pow(2.0, -8.0 * (h + 1) / power)
                                       : std::pow(2.0, -4.0 * (2 * (h - power) + 1) / power);
        for (int k = 0; k < keys; ++k) bias.by_key(h, k) = float(slope) * float(k);
    }
    return bias;
}

PositionBias bucket_bias(const RelativeBuckets& buckets, const float* table, bool causal, int heads, int n) {
    PositionBias bias;
    bias.by_distance.resize(heads, 2 * n - 1);
    for (int apart = 1 - n; apart < n; ++apart) {
        const int bucket = bucket_of(buckets, apart, causal);
        for (int h = 0; h < heads; ++h) bias.by_distance(h, apart + n - 1) = table[bucket * heads + h];
    }
    return bias;
}

namespace {
/// scores[queries, keys] = q kᵀ, by panels of transposed keys: each is a sum that goes up the width of a
/// head.
void multiply_keys(ConstMatrixRef q, ConstMatrixRef k, MatrixRef scores) {
    static thread_local std::vector<float> panel;
    panel.resize(kPanel * k.cols());
    std::array<const float*, kPanel> rows;
    for (Index key = 0; key < k.rows(); key += kPanel) {
        const Index count = std::min<Index>(kPanel, k.rows() - key);
        for (Index i = 0; i < count; ++i) rows[i] = k.row(key + i).data();
        kernels().transpose(rows.data(), count, k.cols(), panel.data());
        kernels().multiply({.x = q.data(),
                            .x_stride = q.outerStride(),
                            .rows = q.rows(),
                            .w = panel.data(),
                            .w_stride = kPanel,
                            .depth = k.cols(),
                            .width = count,
                            .y = scores.data() + key,
                            .y_stride = scores.outerStride(),
                            .begin = true,
                            .bias = nullptr});
    }
}
}  // namespace

void attention_scores(const AttentionRule& rule, int head, ConstMatrixRef q, ConstMatrixRef k, int first,
                      int first_key, MatrixRef scores) {
    HEADLIGHT_DCHECK(head >= 0 && head < rule.heads && first >= 0 && first + scores.rows() <= q.rows() &&
                     first_key >= 0 && first_key + scores.cols() <= k.rows() && q.cols() == k.cols());
    const Matrix scaled = q.middleRows(first, scores.rows()) * rule.scale;  // fewer than there are scores
    multiply_keys(scaled, k.middleRows(first_key, scores.cols()), scores);
    for (Index r = 0; rule.cap > 0 && r < scores.rows(); ++r)
        kernels().soft_cap(scores.row(r).data(), scores.cols(), rule.cap);
    rule.bias.add(head, first, first_key, scores);
    if (const HeadRule* change = rule.change(head))
        for (const auto& [query, key, value] : change->scores)
            if (query >= first && query < first + scores.rows() && key >= first_key &&
                key < first_key + scores.cols())
                scores(query - first, key - first_key) = value;
}

void masked_softmax(const MaskPlan& mask, int first, int first_key, MatrixRef scores) {
    HEADLIGHT_DCHECK(first_key % kSumLanes == 0);
    for (int r = 0; r < scores.rows(); ++r) {
        const int query = first + r;
        auto row = scores.row(r).array();
        const KeyRange& visible = mask.visible[query];
        if (mask.fully_masked(query)) {
            row.setConstant(1.0f / float(mask.keys));
            continue;
        }
        const int begin = visible.begin - first_key, end = visible.end - first_key,
                  lanes = begin - begin % kSumLanes;  // where sums begin, whatever first_key is
        row.head(lanes).setZero();
        row.segment(lanes, begin - lanes).setConstant(-std::numeric_limits<float>::infinity());
        row.tail(row.size() - end).setZero();
        if (mask.has_masked(query))
            for (int i = begin; i < end; ++i)
                if (mask.is_masked(query, first_key + i)) row[i] = -std::numeric_limits<float>::infinity();
        kernels().softmax(row.data() + lanes, end - lanes);
    }
}

namespace {

/// Only the heaviest of the allowed keys, the first of equal ones.
void hardmax(MatrixRef pattern) {
    for (Index r = 0; r < pattern.rows(); ++r) {
        Index heaviest = 0;
        pattern.row(r).maxCoeff(&heaviest);
        pattern.row(r).setZero();
        pattern(r, heaviest) = 1;
    }
}

/// Scores of the queries from `first` and the keys from `first_key` on, with a person's changes, to rows of
/// the pattern.
void finish_pattern(const AttentionRule& rule, int head, int first, int first_key, MatrixRef scores) {
    const float temperature = rule.change(head) ? rule.change(head)->temperature : 1;
    if (std::isinf(temperature))
        scores.setZero();
    else if (temperature > 0 && temperature != 1)
        scores /= temperature;
    masked_softmax(rule.mask_of(head), first, first_key, scores);
    if (temperature == 0) hardmax(scores);
    const Matrix* given = rule.given_pattern(head);
    const Index rows = given ? std::clamp<Index>(given->rows() - first, 0, scores.rows()) : 0;
    if (rows == 0) return;
    const Index width = std::clamp<Index>(given->cols() - first_key, 0, scores.cols());
    scores.topRows(rows).setZero();
    scores.topLeftCorner(rows, width) = given->block(first, first_key, rows, width);
}

}  // namespace

void head_pattern(const AttentionRule& rule, int head, ConstMatrixRef q, ConstMatrixRef k, int first,
                  MatrixRef pattern) {
    HEADLIGHT_CHECK(head >= 0 && head < rule.heads && first >= 0 && first + pattern.rows() <= q.rows() &&
                    pattern.cols() == k.rows() && rule.mask_of(head).keys == pattern.cols());
    const KeyRange keys = needed_keys(rule, head, first, first + narrow<int>(pattern.rows()));
    auto visible = pattern.middleCols(keys.begin, keys.size());
    pattern.leftCols(keys.begin).setZero();
    pattern.rightCols(pattern.cols() - keys.end).setZero();
    attention_scores(rule, head, q, k, first, keys.begin, visible);
    finish_pattern(rule, head, first, keys.begin, visible);
}

namespace {

/// The tile of one head's queries [first, last); its weights are this thread's until it makes another.
PatternTile make_tile(const AttentionRule& rule, int head, ConstMatrixRef q, ConstMatrixRef k, int first,
                      int last) {
    static thread_local std::vector<float> scratch;
    const KeyRange keys = needed_keys(rule, head, first, last);
    const int rows = last - first;
    scratch.resize(std::max(scratch.size(), size_t{1} * rows * keys.size()));
    Eigen::Map<Matrix> weights(scratch.data(), rows, keys.size());
    attention_scores(rule, head, q, k, first, keys.begin, weights);
    finish_pattern(rule, head, first, keys.begin, weights);
    return {rule, head, first, keys.begin, weights};
}

int end_of_tile(int first) { return (first / kTileQueries + 1) * kTileQueries; }

HeadRule::Z z_of(const AttentionRule& rule, int head) {
    return rule.change(head) ? rule.change(head)->z : HeadRule::Z::kept;
}

/// Some queries of one head.
struct TilePlace {
    int head, first, last;
};

/// The tiles for the queries [start, end) of n, the longest rows first; for all n where their mean is z.
std::vector<TilePlace> tile_places(const AttentionRule& rule, int start, int end, int n) {
    std::vector<TilePlace> out;
    for (int block = (n - 1) / kTileQueries * kTileQueries; block >= 0; block -= kTileQueries)
        for (int head = 0; head < rule.heads; ++head) {
            const bool all = z_of(rule, head) == HeadRule::Z::mean;
            const int first = std::max(block, all ? 0 : start),
                      last = std::min(end_of_tile(block), all ? n : end);
            if (first < last) out.push_back({head, first, last});
        }
    return out;
}

/// z[rows, d_head] of a tile; v: [keys, d_head] of its head.
void weigh_values(const PatternTile& tile, ConstMatrixRef v, MatrixRef z) {
    apply_linear_here(tile.weights, linear_of(v.middleRows(tile.first_key, tile.weights.cols())), z);
}

/// z of the heads whose own is taken away: 0, or the mean over n queries; sums: of each tile's z.
void ablate(const AttentionRule& rule, const std::vector<TilePlace>& tiles, const Matrix& sums, int n,
            MatrixRef z) {
    for (int head = 0; head < isize(rule.changed); ++head) {
        const HeadRule::Z kind = z_of(rule, head);
        if (kind == HeadRule::Z::kept) continue;
        Eigen::RowVectorXf sum = Eigen::RowVectorXf::Zero(sums.cols());
        for (int i = 0; kind == HeadRule::Z::mean && i < isize(tiles); ++i)
            if (tiles[i].head == head) sum += sums.row(i);
        z.middleCols(head * sums.cols(), sums.cols()).rowwise() = sum / float(n);
    }
}

void check_shapes(const AttentionRule& rule, const ConstMatrixRef& q, const ConstMatrixRef& k,
                  const ConstMatrixRef& v, int start, const MatrixRef& z) {
    HEADLIGHT_CHECK(rule.heads > 0 && rule.kv_heads > 0 && rule.heads % rule.kv_heads == 0 &&
                    (rule.changed.empty() || isize(rule.changed) == rule.heads));
    HEADLIGHT_CHECK(q.cols() % rule.heads == 0 && q.cols() / rule.heads * rule.kv_heads == k.cols() &&
                    k.cols() == v.cols() && k.rows() == v.rows() && rule.mask.keys == k.rows());
    HEADLIGHT_CHECK(start >= 0 && start + z.rows() <= q.rows() && z.cols() == q.cols() &&
                    isize(rule.mask.visible) >= start + z.rows());
}

}  // namespace

void attend(ThreadPool& pool, const AttentionRule& rule, ConstMatrixRef q, ConstMatrixRef k, ConstMatrixRef v,
            int start, MatrixRef z, const SeeTile& see) {
    check_shapes(rule, q, k, v, start, z);
    if (z.rows() == 0) return;  // all rows were taken over
    const int n = narrow<int>(q.rows());
    const Index width = q.cols() / rule.heads;
    const auto tiles = tile_places(rule, start, start + narrow<int>(z.rows()), n);
    Matrix sums(rule.changed.empty() ? 0 : isize(tiles), width);
    pool.run(isize(tiles), [&](int i) {
        const TilePlace at = tiles[i];
        const HeadRule::Z kind = z_of(rule, at.head);
        if (kind == HeadRule::Z::zero && !see) return;
        const Index own = at.head * width, shared = rule.kv_head(at.head) * width, rows = at.last - at.first;
        const PatternTile tile = make_tile(rule, at.head, q.middleCols(own, width),
                                           k.middleCols(shared, width), at.first, at.last);
        if (see) see(tile);
        if (kind == HeadRule::Z::kept)
            weigh_values(tile, v.middleCols(shared, width), z.block(at.first - start, own, rows, width));
        if (kind != HeadRule::Z::mean) return;
        Matrix part(rows, width);
        weigh_values(tile, v.middleCols(shared, width), part);
        sums.row(i) = part.colwise().sum();
    });
    ablate(rule, tiles, sums, n, z);
}

void show_pattern(const ThreadPool& pool, const AttentionRule& rule, int head, ConstMatrixRef q,
                  ConstMatrixRef k, int first, int last, const SeeTile& see) {
    HEADLIGHT_CHECK(head >= 0 && head < rule.heads && first >= 0 && last <= q.rows() &&
                    rule.mask_of(head).keys == k.rows());
    for (int at = first; at < last && !pool.stopped(); at = end_of_tile(at))
        see(make_tile(rule, head, q, k, at, std::min(last, end_of_tile(at))));
}

}  // namespace headlight
