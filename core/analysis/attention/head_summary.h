// What is known of every head of a pass at once: taken from its patterns while the pass computes them, or
// from those of a trace. It takes in a typed token: what holds of an earlier pass is kept.
#pragma once

#include <array>

#include "analysis/attention/head_stats.h"
#include "base/rows.h"
#include "model/heads.h"
#include "trace/trace.h"

namespace headlight {

/// Statistics added up over queries for which they are defined.
struct StatisticSums {
    std::array<double, kStatistics> sum{};
    std::array<int, kStatistics> count{};
};

/// One head: its statistics (in table order, NaN where not defined) and a small picture.
struct HeadSummary {
    std::array<float, kStatistics> statistics;
    Matrix thumbnail;  // [t, t]: `entries`, stretched where the other stack's text is longer

    Rows by_query;  // [queries, kStatistics]: what the statistics are means of, NaN where not defined
    std::vector<StatisticSums> tiles;  // … added up over each kTileQueries queries that are all there
    Matrix entries;  // [queries / 2^i, keys / 2^j], rounded up: the largest weight of the cells that each
                     // covers, −1 where all of them are masked. Powers of two, so that one more token
                     // changes one row of entries; 2^i is at most kTileQueries, so that a tile has its own.
};

/// Summaries of an earlier pass, made with as many thumbnail rows.
struct PastSummaries {
    const Trace* trace = nullptr;
    const PerHead<HeadSummary>* heads = nullptr;
};

/// Rows of the window's thumbnails, at most.
inline constexpr int kThumbnailSide = 64;

/// Makes the summaries of all heads from the tiles of one pass over `inputs`. Thumbnails have at most
/// `thumbnail` rows, and more than half as many where the text is that long; as many for every head.
class HeadObserver : public PatternObserver {
public:
    HeadObserver(const ModelConfig& config, std::span<const Sequence> inputs, int thumbnail = kThumbnailSide);

    void begin(int block, int first) override;
    void see(int block, const PatternTile& tile) override;

    /// The summaries of the pass, once, when it is done. Rows that it did not see are those of `past` where
    /// they hold for this pass too (trace/reuse.h), else they are shown to it. Throws Failure{cancelled()}
    /// where `cancel` was set.
    PerHead<HeadSummary> finish(const Trace& trace, ThreadPool& pool, const CancelFlag* cancel = nullptr,
                                const PastSummaries& past = {}) &&;

private:
    /// What the heads of an attention block have in common.
    struct Block {
        bool cross;
        int stack, heads, queries, keys;
        int down, across;  // an entry covers 2^down queries and 2^across keys
        int seen_from;     // queries from here on were seen
    };
    /// What was seen of a head's queries from `first` on.
    struct SeenRows {
        int first;
        Matrix statistics;
        Matrix entries;  // from the row on in which `first` lies
    };
    static void begin_at(const Block& block, SeenRows& seen, int first);
    void note_statistics(const Block& block, const PatternTile& tile, SeenRows& seen) const;
    int rows_to_take(AttentionHead head, const HeadSummary& past, int rows, int past_keys) const;
    Matrix joined_entries(AttentionHead head, const HeadSummary& past, int taken, int past_keys) const;
    Matrix thumbnail(AttentionHead head) const;

    int max_, side_ = 1;                         // rows of a thumbnail: at most, and here
    std::vector<std::vector<int>> last_copies_;  // of each stack's text
    std::vector<Block> blocks_;
    PerHead<SeenRows> seen_;
    PerHead<HeadSummary> heads_;
};

/// The summaries of a trace that nothing observed while it was computed.
Result<PerHead<HeadSummary>> summarize_heads(const Trace& trace, int thumbnail, ThreadPool& pool,
                                             const CancelFlag* cancel = nullptr,
                                             const PastSummaries& past = {});

}  // namespace headlight
