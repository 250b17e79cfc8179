// Computes attention: scores, mask, softmax, weighted values. Views call these functions on the same q and k.
#include "model/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/choice.h"
#include "model/attention_products.h"
#include "model/mixers/mixing.h"

namespace headlight {

namespace {

/// Returns the keys that a tile of one head's queries needs: those it may weigh, or all where its weights are
/// given. The range begins at a lane boundary of the kernels' sums.
KeyRange needed_keys(const AttentionRule& rule, int head, int first, int last) {
    if (rule.given_pattern(head)) return {0, rule.mask.keys};
    const KeyRange keys = rule.mask_of(head).weight_range(first, last);
    // a recurrence passes all keys between its query and the first that it shows
    const int end = rule.recurrence ? std::max(keys.end, last) : keys.end;
    return {keys.begin - keys.begin % int{kSumLanes}, end};
}

/// Turns q·kᵀ·scale of one head into scores: soft cap, position bias.
void finish_scores(const AttentionRule& rule, int head, int first, int first_key, MatrixRef scores) {
    for (Index r = 0; rule.cap > 0 && r < scores.rows(); ++r)
        kernels().soft_cap(scores.row(r).data(), scores.cols(), rule.cap);
    rule.bias.add(head, first, first_key, scores);
    if (const HeadRule* change = rule.change(head))
        for (const auto& [query, key, value] : change->scores)
            if (query >= first && query < first + scores.rows() && key >= first_key &&
                key < first_key + scores.cols())
                scores(query - first, key - first_key) = value;
}

}  // namespace

void attention_scores(const AttentionRule& rule, int head, const Rows& q, const Rows& k, int first,
                      int first_key, MatrixRef scores) {
    HEADLIGHT_CHECK(rule.is_softmax());
    HEADLIGHT_DCHECK(head >= 0 && head < rule.heads && first >= 0 && first + scores.rows() <= q.rows() &&
                     first_key >= 0 && first_key + scores.cols() <= k.rows() && q.cols() == k.cols());
    // scales q, which has fewer entries than the scores
    const Matrix scaled = q.middleRows(first, scores.rows()) * rule.scale;
    multiply_keys(scaled, k, first_key, scores);
    rule.disentangled.add_to_position(head, scaled, first, first_key, scores);
    rule.disentangled.add_from_position(head, k, rule.scale, first, first_key, scores);
    finish_scores(rule, head, first, first_key, scores);
}

void apply_temperature(const AttentionRule& rule, int head, MatrixRef scores) {
    const float temperature = rule.temperature_of(head);
    if (std::isinf(temperature))
        scores.setZero();
    else if (temperature > 0 && temperature != 1)
        scores /= temperature;
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

/// Puts all weight on the largest of the allowed scores, the first of equal ones; none if the sink's is
/// larger.
void hardmax(MatrixRef pattern) {
    for (Index r = 0; r < pattern.rows(); ++r) {
        Index heaviest = 0;
        if (pattern.row(r).maxCoeff(&heaviest) == 0) continue;
        pattern.row(r).setZero();
        pattern(r, heaviest) = 1;
    }
}

/// Returns each row's largest allowed score; −∞ in fully masked rows.
Vector largest_scores(const MaskPlan& mask, int first, int first_key, const MatrixRef& scores) {
    Vector out = Vector::Constant(scores.rows(), -std::numeric_limits<float>::infinity());
    for (int r = 0; r < scores.rows(); ++r) {
        const KeyRange& visible = mask.visible[first + r];
        for (int key = visible.begin; key < visible.end; ++key)
            if (!mask.is_masked(first + r, key)) out[r] = std::max(out[r], scores(r, key - first_key));
    }
    return out;
}

/// Takes the sink's share from each row of P = softmax(S): with the largest score m, e^m ÷ Σ e^S is max P, so
/// that Σ e^S ÷ (Σ e^S + e^sink) = 1 ÷ (1 + e^(sink − m) max P). Of a fully masked row it takes all.
void share_with_sink(const AttentionRule& rule, int head, const Vector& largest, MatrixRef pattern) {
    const float sink = rule.sink_score(head);
    for (Index r = 0; r < pattern.rows(); ++r) {
        if (rule.temperature_of(head) == 0)
            pattern.row(r) *= sink > largest[r] ? 0.0f : 1.0f;
        else
            pattern.row(r) /= 1 + std::exp(sink - largest[r]) * pattern.row(r).maxCoeff();
    }
}

/// Puts in the rows that the user or a trace gives.
void put_given(const AttentionRule& rule, int head, int first, int first_key, MatrixRef pattern) {
    const auto given = rule.given_pattern(head);
    const Index rows = given ? std::clamp<Index>(given->rows() - first, 0, pattern.rows()) : 0;
    if (rows == 0) return;
    const Index width = std::clamp<Index>(given->cols() - first_key, 0, pattern.cols());
    pattern.topRows(rows).setZero();
    pattern.topLeftCorner(rows, width) = given->block(first, first_key, rows, width);
}

/// Turns scores (queries from `first`, keys from `first_key` on) into rows of the pattern, under changes.
void finish_pattern(const AttentionRule& rule, int head, int first, int first_key, MatrixRef scores) {
    apply_temperature(rule, head, scores);
    Vector largest;
    if (!rule.sinks.empty()) largest = largest_scores(rule.mask_of(head), first, first_key, scores);
    masked_softmax(rule.mask_of(head), first, first_key, scores);
    if (!rule.sinks.empty()) share_with_sink(rule, head, largest, scores);
    if (rule.temperature_of(head) == 0) hardmax(scores);
    put_given(rule, head, first, first_key, scores);
}

/// Zeroes masked entries: a recurrence has no softmax that would share their weight among the others.
void mask_mixing(const MaskPlan& mask, int first, int first_key, MatrixRef matrix) {
    for (int r = 0; r < matrix.rows(); ++r)
        for (int i = 0; i < matrix.cols(); ++i)
            if (!mask.allowed(first + r, first_key + i)) matrix(r, i) = 0;
}

/// Computes rows of a head's pattern: queries from `first`, keys from `first_key` on.
void make_pattern(const AttentionRule& rule, int head, const Rows& q, const Rows& k, int first, int first_key,
                  MatrixRef pattern) {
    if (rule.is_softmax()) {
        attention_scores(rule, head, q, k, first, first_key, pattern);
        return finish_pattern(rule, head, first, first_key, pattern);
    }
    mixing_matrix(rule, head, q, k, first, first_key, pattern);
    mask_mixing(rule.mask_of(head), first, first_key, pattern);
    put_given(rule, head, first, first_key, pattern);
}

}  // namespace

Index AttentionRule::key_width(Index d_head) const {
    return !recurrence ? d_head : shares_vectors() ? d_head + heads : d_head + kKeyRates;
}

float AttentionRule::sink_score(int head) const {
    HEADLIGHT_CHECK(head >= 0 && head < isize(sinks));
    const float temperature = temperature_of(head);
    return std::isinf(temperature) ? 0
           : temperature > 0       ? sinks[size_t(head)] / temperature
                                   : sinks[size_t(head)];
}

float sink_weight(const AttentionRule& rule, ConstRowRef row) {
    if (rule.sinks.empty()) return 0;
    double sum = 0;  // in one order, so that zeros beside a row change no bit
    for (const float weight : row) sum += std::max(0.0f, weight);
    return std::max(0.0f, float(1 - sum));
}

void head_pattern(const AttentionRule& rule, int head, const Rows& q, const Rows& k, int first,
                  MatrixRef pattern) {
    HEADLIGHT_CHECK(head >= 0 && head < rule.heads && first >= 0 && first + pattern.rows() <= q.rows() &&
                    pattern.cols() == k.rows() && rule.mask_of(head).keys == pattern.cols());
    const KeyRange keys = needed_keys(rule, head, first, first + narrow<int>(pattern.rows()));
    auto visible = pattern.middleCols(keys.begin, keys.size());
    pattern.leftCols(keys.begin).setZero();
    pattern.rightCols(pattern.cols() - keys.end).setZero();
    make_pattern(rule, head, q, k, first, keys.begin, visible);
}

namespace {

/// Returns this thread's buffer of at least `floats` floats, valid until the next call.
float* tile_scratch(Index floats) {
    static thread_local std::vector<float> scratch;
    scratch.resize(std::max(scratch.size(), static_cast<size_t>(floats)));
    return scratch.data();
}

/// Counts the leading keys, a multiple of kSumLanes, of which a recurrence has nothing left.
Index faded_keys(ConstMatrixRef weights) {
    Index count = 0;
    while (count + kSumLanes < weights.cols() && weights.middleCols(count, kSumLanes).isZero(0))
        count += kSumLanes;
    return count;
}

/// Computes the tile of a head's queries [first, last), valid until this thread makes the next tile.
PatternTile make_tile(const AttentionRule& rule, int head, const Rows& q, const Rows& k, int first,
                      int last) {
    const KeyRange keys = needed_keys(rule, head, first, last);
    const Index rows = last - first;
    Eigen::Map<Matrix> weights(tile_scratch(rows * keys.size()), rows, keys.size());
    make_pattern(rule, head, q, k, first, keys.begin, weights);
    const Index faded = rule.recurrence ? faded_keys(weights) : 0;
    return {rule, head, first, keys.begin + narrow<int>(faded), weights.rightCols(keys.size() - faded)};
}

/// Computes one query's rows of the patterns of `heads` heads from `head` on, which share the keys k [n,
/// d_head]; q: [n, heads of the block · d_head].
ConstMatrixMap make_rows(const AttentionRule& rule, int head, int heads, const Rows& q, const Rows& k,
                         int query, const KeyRange& keys) {
    HEADLIGHT_DCHECK(!rule.disentangled);
    const Index width = k.cols();
    Eigen::Map<Matrix> weights(tile_scratch(Index{heads} * keys.size()), heads, keys.size());
    const ConstMatrixMap queries(q.row(query).data() + head * width, heads, width);
    multiply_keys(Matrix(queries * rule.scale), k, keys.begin, weights);
    for (int i = 0; i < heads; ++i) {
        finish_scores(rule, head + i, query, keys.begin, weights.middleRows(i, 1));
        finish_pattern(rule, head + i, query, keys.begin, weights.middleRows(i, 1));
    }
    return {weights.data(), weights.rows(), weights.cols()};
}

int end_of_tile(int first) { return (first / kTileQueries + 1) * kTileQueries; }

HeadRule::Z z_of(const AttentionRule& rule, int head) {
    return rule.change(head) ? rule.change(head)->z : HeadRule::Z::kept;
}

/// Places a tile: several queries of one head, or one query of `heads` neighboring heads.
struct TilePlace {
    int head, first, last, heads = 1;
};

/// Counts the heads from `head` on to compute together, so that shared keys and values are read once.
int heads_together(const AttentionRule& rule, int head, bool one_query) {
    if (!one_query || !rule.changed.empty() || rule.disentangled || rule.recurrence) return 1;
    const int shared = rule.heads / rule.kv_heads;
    return std::min(shared - head % shared, kFewQueries);
}

/// Cuts the queries [start, end) of n into tiles, the longest rows first; all n if z is a mean over queries.
std::vector<TilePlace> tile_places(const AttentionRule& rule, int start, int end, int n) {
    std::vector<TilePlace> out;
    for (int block = (n - 1) / kTileQueries * kTileQueries; block >= 0; block -= kTileQueries)
        for (int head = 0, heads = 1; head < rule.heads; head += heads) {
            const bool all = z_of(rule, head) == HeadRule::Z::mean;
            const int first = std::max(block, all ? 0 : start),
                      last = std::min(end_of_tile(block), all ? n : end);
            heads = heads_together(rule, head, last - first == 1);
            if (first < last) out.push_back({head, first, last, heads});
        }
    return out;
}

/// Replaces z of ablated heads by 0 or by the mean over n queries; sums: Σ z of each tile.
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

void check_shapes(const AttentionRule& rule, const Rows& q, const Rows& k, const Rows& v, int start,
                  const MatrixRef& z) {
    HEADLIGHT_CHECK(rule.heads > 0 && rule.kv_heads > 0 && rule.heads % rule.kv_heads == 0 &&
                    (rule.changed.empty() || isize(rule.changed) == rule.heads));
    HEADLIGHT_CHECK(q.cols() % rule.query_heads() == 0 &&
                    rule.key_width(q.cols() / rule.query_heads()) * rule.key_heads() == k.cols() &&
                    k.rows() == v.rows() && rule.mask.keys == k.rows());
    HEADLIGHT_CHECK(start >= 0 && start + z.rows() <= q.rows() && v.cols() % rule.kv_heads == 0 &&
                    z.cols() == v.cols() / rule.kv_heads * rule.heads &&
                    isize(rule.mask.visible) >= start + z.rows());
}

/// z = pattern · v for one query of heads that share keys and values; z: [1, heads of the block · d_value].
void attend_together(const AttentionRule& rule, const TilePlace& at, const Rows& q, const Rows& k,
                     const Rows& v, MatrixRef z, const SeeTile& see) {
    const Index width = v.cols();
    const KeyRange keys = needed_keys(rule, at.head, at.first, at.last);
    const ConstMatrixMap weights = make_rows(rule, at.head, at.heads, q, k, at.first, keys);
    for (int i = 0; see && i < at.heads; ++i)
        see({rule, at.head + i, at.first, keys.begin, weights.middleRows(i, 1)});
    weigh_values(weights, keys.begin, v,
                 Eigen::Map<Matrix>(z.row(0).data() + at.head * width, at.heads, width));
}

}  // namespace

void attend(ThreadPool& pool, const AttentionRule& rule, const Rows& q, const Rows& k, const Rows& v,
            int start, MatrixRef z, const SeeTile& see) {
    check_shapes(rule, q, k, v, start, z);
    if (z.rows() == 0) return;  // an earlier pass supplied all rows
    const int n = narrow<int>(q.rows());
    const Index d_head = q.cols() / rule.query_heads(), d_key = rule.key_width(d_head),
                width = z.cols() / rule.heads;
    const auto tiles = tile_places(rule, start, start + narrow<int>(z.rows()), n);
    Matrix sums(rule.changed.empty() ? 0 : isize(tiles), width);
    pool.run(isize(tiles), [&](int i) {
        const TilePlace at = tiles[i];
        const HeadRule::Z kind = z_of(rule, at.head);
        if (kind == HeadRule::Z::zero && !see) return;
        const Index own = at.head * width, rows = at.last - at.first;
        const Rows keys = k.columns(rule.key_head(at.head) * d_key, d_key),
                   values = v.columns(rule.kv_head(at.head) * width, width);
        if (at.heads > 1)
            return attend_together(rule, at, q, keys, values, z.middleRows(at.first - start, 1), see);
        const Rows queries = q.columns(rule.query_head(at.head) * d_head, d_head);
        const PatternTile tile = make_tile(rule, at.head, queries, keys, at.first, at.last);
        if (see) see(tile);
        if (kind == HeadRule::Z::kept)
            weigh_values(tile.weights, tile.first_key, values, z.block(at.first - start, own, rows, width));
        if (kind != HeadRule::Z::mean) return;
        Matrix part(rows, width);
        weigh_values(tile.weights, tile.first_key, values, part);
        sums.row(i) = part.colwise().sum();
    });
    ablate(rule, tiles, sums, n, z);
    for (int head = 0; head < isize(rule.changed); ++head)
        rule.changed[head].given_z.put(start, z.middleCols(head * width, width));
}

void show_pattern(const ThreadPool& pool, const AttentionRule& rule, int head, const Rows& q, const Rows& k,
                  int first, int last, const SeeTile& see) {
    HEADLIGHT_CHECK(head >= 0 && head < rule.heads && first >= 0 && last <= q.rows() &&
                    rule.mask_of(head).keys == k.rows());
    for (int at = first; at < last && !pool.stopped(); at = end_of_tile(at))
        see(make_tile(rule, head, q, k, at, std::min(last, end_of_tile(at))));
}

}  // namespace headlight
