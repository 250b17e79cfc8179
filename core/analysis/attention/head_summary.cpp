// Summarizes all heads of a pass while it runs, and reuses the summaries of an earlier pass.
#include "analysis/attention/head_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cast.h"
#include "base/check.h"
#include "kernels/choice.h"
#include "trace/large_pattern.h"
#include "trace/reuse.h"

namespace headlight {

namespace {

constexpr int kNumbers = kStatistics + 1;  // of a query

/// Returns the tokens of an entry: the smallest power of two for at most `max` entries of `count` tokens.
int scale_of(int count, int max) {
    int scale = 0;
    while ((count - 1) >> scale >= max) ++scale;
    return scale;
}
int entry_count(int count, int scale) { return ((count - 1) >> scale) + 1; }

/// Returns how many queries an entry covers, likewise; at most those of a tile.
int scale_down(int queries, int max) {
    static_assert(kTileQueries == 1 << 6);
    return std::min(scale_of(queries, max), 6);
}

/// Repeats entries to fill [t, t].
Matrix stretched(const Matrix& entries, int t) {
    if (entries.rows() == t && entries.cols() == t) return entries;
    Matrix out(t, t);
    for (Index i = 0; i < t; ++i)
        for (Index j = 0; j < t; ++j) out(i, j) = entries(i * entries.rows() / t, j * entries.cols() / t);
    return out;
}

StatisticSums sums_of(const Rows& by_query, Index first, Index last) {
    StatisticSums out;
    for (Index q = first; q < last; ++q) {
        const auto row = by_query.row(q);
        for (int s = 0; s < kStatistics; ++s)
            if (!std::isnan(row[s])) {
                out.sum[s] += double(row[s]);
                ++out.count[s];
            }
    }
    return out;
}

/// Averages each statistic over the queries for which it is defined; adds the sums of new tiles.
std::array<float, kStatistics> means(HeadSummary& head) {
    const Index queries = head.by_query.rows(), whole = queries / kTileQueries;
    for (Index t = isize(head.tiles); t < whole; ++t)
        head.tiles.push_back(sums_of(head.by_query, t * kTileQueries, (t + 1) * kTileQueries));
    StatisticSums all = sums_of(head.by_query, whole * kTileQueries, queries);
    for (const StatisticSums& tile : head.tiles)
        for (int s = 0; s < kStatistics; ++s) {
            all.sum[s] += tile.sum[s];
            all.count[s] += tile.count[s];
        }
    std::array<float, kStatistics> out;
    for (int s = 0; s < kStatistics; ++s)
        out[s] = all.count[s] ? float(all.sum[s] / all.count[s]) : std::numeric_limits<float>::quiet_NaN();
    return out;
}

/// Takes the maximum of each key's entry and one query's weight. Skips a masked key without weight.
void raise_to_row(const PatternTile& tile, int query, float* largest) {
    const MaskPlan& mask = tile.rule.mask_of(tile.head);
    const KeyRange keys = tile.rule.weight_range(tile.head, query);
    const int begin = keys.begin - tile.first_key, end = keys.end - tile.first_key;
    const float* const weights = tile.weights.row(query - tile.first).data();
    if (!tile.rule.is_softmax()) {
        for (int i = begin; i < end; ++i)
            if (weights[i] != 0 || mask.allowed(query, tile.first_key + i))
                largest[i] = stronger(largest[i], weights[i]);
        return;
    }
    if (!mask.has_masked(query) && !tile.rule.is_given(tile.head, query))
        return kernels().keep_larger(largest + begin, weights + begin, end - begin);
    for (int i = begin; i < end; ++i)
        if (weights[i] != 0 || mask.has_weight(query, tile.first_key + i))
            largest[i] = std::max(largest[i], weights[i]);
}

/// Takes the maximum of each entry, 2^down queries × 2^across keys, and the tile's cells; the given entries
/// begin with the row of entries that contains query `first`.
void raise_entries(const PatternTile& tile, int down, int across, int first, Matrix& entries) {
    static thread_local std::vector<float> largest;  // by key, over the queries of one row of entries
    const int last = tile.first + narrow<int>(tile.weights.rows()), width = narrow<int>(tile.weights.cols());
    for (int query = tile.first; query < last;) {
        float* const row = entries.row((query >> down) - (first >> down)).data();
        const int end = std::min(last, ((query >> down) + 1) << down);
        largest.assign(width, kMasked);
        for (; query < end; ++query) raise_to_row(tile, query, largest.data());
        if (!tile.rule.is_softmax()) {
            for (int i = 0; i < width; ++i) {
                float& entry = row[(tile.first_key + i) >> across];
                entry = stronger(entry, largest[i]);
            }
            continue;
        }
        if (across == 0) kernels().keep_larger(row + tile.first_key, largest.data(), width);
        for (int i = 0; across > 0 && i < width;) {
            const int at = (tile.first_key + i) >> across,
                      next = std::min(width, ((at + 1) << across) - tile.first_key);
            row[at] = std::max(row[at], Eigen::Map<const Vector>(largest.data() + i, next - i).maxCoeff());
            i = next;
        }
    }
}

/// Counts the rows of a head's pattern that stay valid: no frozen ones, which may weigh new keys.
int kept_rows(const Trace& trace, AttentionHead head, const Reuse& reuse) {
    if (!reuse.past) return 0;
    const AttentionBlock block = trace.config().block(head.block);
    const StackReuse& of_stack = reuse.stacks[block.stack];
    if (of_stack.whole || block.layer < of_stack.layers) return trace.query_count(head.block);
    return trace.rule(head.block).given_pattern(head.head) ? 0 : of_stack.rows;
}

}  // namespace

namespace {

/// Returns ids in which no patch of an image repeats another: a server spells all by one token.
std::vector<int> told_apart(const Sequence& s) {
    std::vector<int> out = s.ids;
    for (int i = 0; s.picture && i < s.size(); ++i)
        if (s.picture->grid.has(i)) out[size_t(i)] = -1 - i;
    return out;
}

}  // namespace

HeadObserver::HeadObserver(const ModelConfig& c, std::span<const Sequence> inputs, int thumbnail)
    : max_(thumbnail), seen_(c), heads_(c) {
    HEADLIGHT_CHECK(inputs.size() == c.stacks.size());
    for (const Sequence& s : inputs) {
        last_copies_.push_back(last_copies(told_apart(s)));
        side_ = std::max(side_, entry_count(s.size(), scale_of(s.size(), max_)));
    }
    for (int i = 0; i < c.blocks(); ++i) {
        const AttentionBlock at = c.block(i);
        const int queries = inputs[at.stack].size(), keys = inputs[at.key_stack].size(),
                  down = scale_down(queries, max_), across = scale_of(keys, max_),
                  columns = entry_count(keys, across);
        blocks_.push_back(
            {at.kind == AttentionKind::cross, at.stack, c.heads(i), queries, keys, down, across, queries});
        for (int head = 0; head < c.heads(i); ++head)
            seen_[AttentionHead{i, head}] = {queries, Matrix(0, kNumbers), Matrix(0, columns)};
    }
}

/// Makes `seen` begin at query `first`: adds room for earlier queries, or drops leading ones.
void HeadObserver::start_at(const Block& block, SeenRows& seen, int first) {
    if (first == seen.first) return;
    const Index end = seen.first + seen.statistics.rows(), kept = end - std::max(first, seen.first);
    Matrix statistics(end - first, kNumbers);
    statistics.bottomRows(kept) = seen.statistics.bottomRows(kept);
    const Index rows = first < end ? entry_count(block.queries, block.down) - (first >> block.down) : 0,
                same = std::min(rows, seen.entries.rows());
    Matrix entries(rows, entry_count(block.keys, block.across));
    entries.topRows(rows - same).setConstant(kMasked);
    if (same > 0) entries.bottomRows(same) = seen.entries.bottomRows(same);
    seen = {first, std::move(statistics), std::move(entries)};
}

void HeadObserver::begin(int block, int first) {
    blocks_[block].seen_from = first;
    for (int head = 0; head < blocks_[block].heads; ++head)
        start_at(blocks_[block], seen_[AttentionHead{block, head}], first);
}

void HeadObserver::see(int block, const PatternTile& tile) {
    const Block& shape = blocks_[block];
    SeenRows& seen = seen_[AttentionHead{block, tile.head}];
    note_statistics(shape, tile, seen);
    raise_entries(tile, shape.down, shape.across, seen.first, seen.entries);
}

void HeadObserver::note_statistics(const Block& block, const PatternTile& tile, SeenRows& seen) const {
    for (Index i = 0; i < tile.weights.rows(); ++i) {
        const QueryRow row{{tile.weights.row(i).data(), size_t(tile.weights.cols())},
                           tile.first_key,
                           tile.first + narrow<int>(i),
                           last_copies_[block.stack],
                           sink_weight(tile.rule, tile.weights.row(i))};
        for (int s = 0; s < kStatistics; ++s) {
            const HeadStatistic& statistic = head_statistics()[s];
            // they are of weights that sum to 1, and those within one text of queries and keys that are
            // tokens of it
            const bool defined = tile.rule.is_softmax() && !(block.cross && statistic.self_only);
            seen.statistics(row.query - seen.first, s) =
                defined ? statistic.of_query(row) : std::numeric_limits<float>::quiet_NaN();
        }
        seen.statistics(row.query - seen.first, kStatistics) = row.sink;
    }
}

/// Counts the leading rows, of `rows` valid ones, to reuse of an earlier summary over `past_keys` keys.
int HeadObserver::reusable_rows(AttentionHead head, const HeadSummary& past, int rows, int past_keys) const {
    const Block& now = blocks_[head.block];
    const int past_queries = narrow<int>(past.by_query.rows());
    const int past_down = scale_down(past_queries, max_);
    const int past_across = scale_of(past_keys, max_);
    if (past_down > now.down || past_across > now.across) return 0;  // entries cannot become finer
    if (rows >= past_queries) return rows;
    return rows >> past_down << past_down;  // recomputes a partially covered entry
}

/// Merges the entries of an earlier summary's first `rows` rows with those seen in this pass. A row of
/// entries that covers queries of both takes the maximum.
///
///               past keys     new keys
///     reused  [ max-pooled  | masked     ]
///     seen    [ this pass                ]
Matrix HeadObserver::merged_entries(AttentionHead head, const HeadSummary& past, int rows,
                                    int past_keys) const {
    const Block& now = blocks_[head.block];
    const int past_down = scale_down(narrow<int>(past.by_query.rows()), max_);
    const int past_across = scale_of(past_keys, max_);
    const Index pool_down = Index{1} << (now.down - past_down);
    const Index pool_across = Index{1} << (now.across - past_across);
    Matrix pooled;
    if (pool_down > 1 || pool_across > 1)
        pooled = max_pool(past.entries.topRows(entry_count(rows, past_down)), pool_down, pool_across);
    const Matrix& reused = pooled.size() ? pooled : past.entries;
    const Matrix& seen = seen_[head].entries;

    Matrix out(entry_count(now.queries, now.down), entry_count(now.keys, now.across));
    const Index top = entry_count(rows, now.down);
    const Index bottom = out.rows() - top;
    const Index left = std::min(reused.cols(), out.cols());
    out.topLeftCorner(top, left) = reused.topLeftCorner(top, left);
    out.topRightCorner(top, out.cols() - left).setConstant(kMasked);
    out.bottomRows(bottom) = seen.bottomRows(bottom);
    if (seen.rows() > bottom) out.row(top - 1) = out.row(top - 1).binaryExpr(seen.row(0), &stronger);
    return out;
}

Matrix HeadObserver::thumbnail(AttentionHead head) const {
    const Block& block = blocks_[head.block];
    const Index rows = Index{1} << (scale_of(block.queries, max_) - block.down);
    const Matrix& entries = heads_[head].entries;
    return rows == 1 ? stretched(entries, side_) : stretched(max_pool(entries, rows, 1), side_);
}

/// Takes the largest weight of each row's queries, as thumbnail() does of each key.
Vector HeadObserver::sinks(const Trace& trace, AttentionHead head) const {
    if (trace.rule(head.block).sinks.empty()) return {};
    const int queries = blocks_[head.block].queries, scale = scale_of(queries, max_);
    const Index entries = entry_count(queries, scale);
    const Rows& of_query = heads_[head].by_query;
    Vector out = Vector::Zero(side_);
    for (Index i = 0; i < side_; ++i) {
        const Index first = (i * entries / side_) << scale,
                    end = std::min(Index{queries}, first + (Index{1} << scale));
        for (Index q = first; q < end; ++q) out[i] = std::max(out[i], of_query.row(q)[kStatistics]);
    }
    return out;
}

PerHead<HeadSummary> HeadObserver::finish(const Trace& trace, ThreadPool& pool, const CancelFlag* cancel,
                                          const PastSummaries& past) && {
    if (past.trace == &trace) return *past.heads;
    const Reuse reuse = past.trace ? reusable(*past.trace, trace) : Reuse{};
    const CancelScope scope(pool, cancel);
    for_heads(trace.config(), pool, [&](AttentionHead h) {
        const int kept = kept_rows(trace, h, reuse), past_keys = kept ? past.trace->key_count(h.block) : 0;
        const HeadSummary* const before = kept ? &(*past.heads)[h] : nullptr;
        const int taken = before ? reusable_rows(h, *before, kept, past_keys) : 0;
        SeenRows& seen = seen_[h];
        start_at(blocks_[h.block], seen, taken);
        show_pattern(trace, h, taken, blocks_[h.block].seen_from, pool, *this);
        HeadSummary& out = heads_[h];
        if (taken) out.tiles.assign(before->tiles.begin(), before->tiles.begin() + taken / kTileQueries);
        out.entries = taken ? merged_entries(h, *before, taken, past_keys) : std::move(seen.entries);
        out.by_query = taken ? Rows(before->by_query, taken, std::move(seen.statistics))
                             : Rows(std::move(seen.statistics));
        out.statistics = means(out);
        out.thumbnail = thumbnail(h);
        out.sinks = sinks(trace, h);
    });
    return std::move(heads_);
}

Result<PerHead<HeadSummary>> summarize_heads(const Trace& trace, int thumbnail, ThreadPool& pool,
                                             const CancelFlag* cancel, const PastSummaries& past) {
    return HeadObserver(trace.config(), trace.request.inputs, thumbnail).finish(trace, pool, cancel, past);
}

}  // namespace headlight
