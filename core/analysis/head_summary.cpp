#include "analysis/head_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cast.h"
#include "trace/large_pattern.h"
#include "trace/reuse.h"

namespace headlight {

namespace {

/// How many tokens an entry covers, as a power of two: the least with which `count` tokens make at most
/// `most` entries.
int scale_of(int count, int most) {
    int scale = 0;
    while ((count - 1) >> scale >= most) ++scale;
    return scale;
}
int entry_count(int count, int scale) { return ((count - 1) >> scale) + 1; }

/// [t, t]: each entry as often as it takes.
Matrix stretched(const Matrix& entries, int t) {
    if (entries.rows() == t && entries.cols() == t) return entries;
    Matrix out(t, t);
    for (Index i = 0; i < t; ++i)
        for (Index j = 0; j < t; ++j) out(i, j) = entries(i * entries.rows() / t, j * entries.cols() / t);
    return out;
}

/// The mean of each column over the rows for which it is defined.
std::array<float, kStatistics> means(const Matrix& by_query) {
    std::array<double, kStatistics> sums{};
    std::array<int, kStatistics> counts{};
    for (Index q = 0; q < by_query.rows(); ++q)
        for (int s = 0; s < kStatistics; ++s)
            if (const float value = by_query(q, s); !std::isnan(value)) {
                sums[s] += double(value);
                ++counts[s];
            }
    std::array<float, kStatistics> out;
    for (int s = 0; s < kStatistics; ++s)
        out[s] = counts[s] ? float(sums[s] / counts[s]) : std::numeric_limits<float>::quiet_NaN();
    return out;
}

/// Makes the summary of one head, query by query.
class Summarizer {
public:
    Summarizer(const Trace& trace, AttentionHead head, int most)
        : trace_(trace),
          head_(head),
          rule_(trace.rule(head.block)),
          mask_(rule_.mask_of(head.head)),
          cross_(trace.config().block(head.block).kind == AttentionKind::cross),
          queries_(trace.query_count(head.block)),
          most_(most),
          down_(scale_of(queries_, most)),
          across_(scale_of(mask_.keys, most)) {
        out_.by_query.resize(queries_, kStatistics);
        out_.entries =
            Matrix::Constant(entry_count(queries_, down_), entry_count(mask_.keys, across_), -1.0f);
    }

    /// Takes the first `rows` rows of an earlier summary of this head, over so many keys.
    void take(const HeadSummary& past, int rows, int past_keys) {
        const int past_queries = narrow<int>(past.by_query.rows());
        const int down = scale_of(past_queries, most_), across = scale_of(past_keys, most_);
        if (down > down_ || across > across_) return;
        if (rows < past_queries)
            rows = rows >> down << down;  // an entry of which a part is gone is made anew
        if (rows == 0) return;
        const Matrix kept = largest_of_blocks(past.entries.topRows(entry_count(rows, down)),
                                              Index{1} << (down_ - down), Index{1} << (across_ - across));
        const Index columns = std::min(kept.cols(), out_.entries.cols());
        out_.entries.topLeftCorner(kept.rows(), columns) = kept.leftCols(columns);
        out_.by_query.topRows(rows) = past.by_query.topRows(rows);
        taken_ = rows;
    }

    HeadSummary rest(const ThreadPool& pool) {
        constexpr int kBlock = 64;
        for (int first = taken_; first < queries_ && !pool.stopped(); first += kBlock) {
            Matrix rows =
                trace_.pattern_rows(head_.block, head_.head, first, std::min(kBlock, queries_ - first));
            for (int i = 0; i < rows.rows(); ++i) note(first + i, rows.row(i).data());
        }
        out_.statistics = means(out_.by_query);
        return std::move(out_);
    }

private:
    void note(int q, float* weights) {
        const KeyRange range = rule_.weighed(head_.head, q);
        const std::span<float> row(weights, range.end);
        for (int s = 0; s < kStatistics; ++s) {
            const HeadStatistic& statistic = head_statistics()[s];
            out_.by_query(q, s) = cross_ && statistic.self_only
                                      ? std::numeric_limits<float>::quiet_NaN()
                                      : statistic.of_query(row, q, trace_.queries(head_.block).ids);
        }
        mark_masked(mask_, q, row);
        float* const entries = out_.entries.row(q >> down_).data();
        for (int k = range.begin; k < range.end; ++k)
            entries[k >> across_] = std::max(entries[k >> across_], row[k]);
    }

    const Trace& trace_;
    AttentionHead head_;
    const AttentionRule& rule_;
    const MaskPlan& mask_;
    bool cross_;
    int queries_, most_, down_, across_, taken_ = 0;
    HeadSummary out_;
};

/// How many rows of a head's pattern hold: none that were frozen, which may weigh keys that are new.
int kept_rows(const Trace& trace, AttentionHead head, const Reuse& reuse) {
    if (!reuse.past) return 0;
    const AttentionBlock block = trace.config().block(head.block);
    const StackReuse& of_stack = reuse.stacks[block.stack];
    if (of_stack.whole || block.layer < of_stack.layers) return trace.query_count(head.block);
    return trace.rule(head.block).given_pattern(head.head) ? 0 : of_stack.rows;
}

}  // namespace

Result<PerHead<HeadSummary>> summarize_heads(const Trace& trace, int thumbnail, ThreadPool& pool,
                                             const CancelFlag* cancel, const PastSummaries& past) {
    if (past.trace == &trace) return *past.heads;
    const Reuse reuse = past.trace ? reusable(*past.trace, trace) : Reuse{};
    int t = 1;
    for (const Sequence& s : trace.request.inputs)
        t = std::max(t, entry_count(s.size(), scale_of(s.size(), thumbnail)));
    PerHead<HeadSummary> out(trace.config());
    const CancelScope scope(pool, cancel);
    for_heads(trace.config(), pool, [&](AttentionHead h) {
        Summarizer summarizer(trace, h, thumbnail);
        if (const int rows = kept_rows(trace, h, reuse))
            summarizer.take((*past.heads)[h], rows, past.trace->key_count(h.block));
        out[h] = summarizer.rest(pool);
        out[h].thumbnail = stretched(out[h].entries, t);
    });
    return out;
}

}  // namespace headlight
