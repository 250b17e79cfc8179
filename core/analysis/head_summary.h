// What is known of every head of a pass at once. It takes in a typed token: what holds of an earlier pass is
// kept.
#pragma once

#include <array>

#include "analysis/head_stats.h"
#include "model/heads.h"
#include "trace/trace.h"

namespace headlight {

/// One head: its statistics (in table order, NaN where not defined) and a small picture.
struct HeadSummary {
    std::array<float, kStatistics> statistics;
    Matrix thumbnail;  // [t, t]: `entries`, stretched where the other stack's text is longer

    Matrix by_query;  // [queries, kStatistics]: what the statistics are means of, NaN where not defined
    Matrix entries;   // [queries / 2^i, keys / 2^j], rounded up: the largest weight of the cells that each
                      // covers, −1 where all of them are masked. Powers of two, so that one more token
                      // changes one row of entries.
};

/// Summaries of an earlier pass, made with as many thumbnail rows.
struct PastSummaries {
    const Trace* trace = nullptr;
    const PerHead<HeadSummary>* heads = nullptr;
};

/// Summaries of all heads. Thumbnails have at most `thumbnail` rows, and more than half as many where the
/// text is that long; as many for every head. An error means that `cancel` was set; it is read between heads.
/// Rows of `past` that hold for this pass too (trace/reuse.h) are not computed again.
Result<PerHead<HeadSummary>> summarize_heads(const Trace& trace, int thumbnail, ThreadPool& pool,
                                             const CancelFlag* cancel = nullptr,
                                             const PastSummaries& past = {});

}  // namespace headlight
