// Summarizes every head of a pass at once, from its patterns while the pass computes them, or from those of a
// trace. Updates incrementally for a typed token: keeps what stays valid of an earlier pass.
#pragma once

#include <array>

#include "analysis/attention/head_stats.h"
#include "base/rows.h"
#include "model/heads.h"
#include "trace/trace.h"

namespace headlight {

/// Sums statistics over the queries for which they are defined.
struct StatisticSums {
    std::array<double, kStatistics> sum{};
    std::array<int, kStatistics> count{};
};

/// Summarizes one head: its statistics (in table order, NaN if undefined) and a small picture.
struct HeadSummary {
    std::array<float, kStatistics> statistics;
    Matrix thumbnail;  // [t, t]: `entries`, stretched if the other stack's text is longer
    /// [t]: the largest weight that the queries of each row of the thumbnail leave to the head's sink
    /// (AttentionSpec::sinks), a column beside the keys; empty: it has none.
    Vector sinks;

    /// [queries, kStatistics + 1]: value of each query, NaN if undefined; last, the weight of its sink
    Rows by_query;
    std::vector<StatisticSums> tiles;  // sums of `by_query` over each complete tile of kTileQueries queries
    /// [queries / 2^i, keys / 2^j], rounded up: the largest weight of the cells that each entry covers (of a
    /// mixing matrix the one farthest from 0), kMasked if all of them are masked. Powers of two, so that one
    /// more token changes one row of entries; 2^i is at most kTileQueries, so that tiles share no entry.
    Matrix entries;
};

/// Holds summaries of an earlier pass, made with the same maximum of thumbnail rows.
struct PastSummaries {
    const Trace* trace = nullptr;
    const PerHead<HeadSummary>* heads = nullptr;
};

inline constexpr int kThumbnailSide = 64;

/// Summarizes all heads from the tiles of one pass over `inputs`. Thumbnails have at most `thumbnail` rows,
/// and more than half as many if the text is long enough; the same number for every head.
class HeadObserver : public PatternObserver {
public:
    HeadObserver(const ModelConfig& config, std::span<const Sequence> inputs, int thumbnail = kThumbnailSide);

    void begin(int block, int first) override;
    void see(int block, const PatternTile& tile) override;

    /// Returns the summaries of the pass; call once, when it is done. Takes rows that it did not see from
    /// `past` if they stay valid for this pass (trace/reuse.h), else recomputes their tiles. Throws
    /// Failure{cancelled()} if `cancel` was set.
    PerHead<HeadSummary> finish(const Trace& trace, ThreadPool& pool, const CancelFlag* cancel = nullptr,
                                const PastSummaries& past = {}) &&;

private:
    /// Holds what the heads of an attention block share.
    struct Block {
        bool cross;
        int stack, heads, queries, keys;
        int down, across;  // an entry covers 2^down queries and 2^across keys
        int seen_from;     // first query seen
    };
    /// Holds what was seen of a head's queries from `first` on.
    struct SeenRows {
        int first;
        Matrix statistics;
        Matrix entries;  // from the row of entries that contains `first`
    };
    static void start_at(const Block& block, SeenRows& seen, int first);
    void note_statistics(const Block& block, const PatternTile& tile, SeenRows& seen) const;
    int reusable_rows(AttentionHead head, const HeadSummary& past, int rows, int past_keys) const;
    Matrix merged_entries(AttentionHead head, const HeadSummary& past, int rows, int past_keys) const;
    Matrix thumbnail(AttentionHead head) const;
    Vector sinks(const Trace& trace, AttentionHead head) const;

    int max_, side_ = 1;                         // rows of a thumbnail: maximum, and actual
    std::vector<std::vector<int>> last_copies_;  // of each stack's text
    std::vector<Block> blocks_;
    PerHead<SeenRows> seen_;
    PerHead<HeadSummary> heads_;
};

/// Summarizes a trace that was computed without an observer.
Result<PerHead<HeadSummary>> summarize_heads(const Trace& trace, int thumbnail, ThreadPool& pool,
                                             const CancelFlag* cancel = nullptr,
                                             const PastSummaries& past = {});

}  // namespace headlight
