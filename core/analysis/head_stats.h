// One number per head: what kind of pattern it has.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace headlight {

/// A row of the table of statistics. The value of a head is the mean over the queries for which it is
/// defined; fully masked rows count as the uniform attention that they are (MaskPlan).
struct HeadStatistic {
    const char* key;         // "previous", for the command line and files
    const char* label;       // "previous token", for people
    const char* unit;        // "bits", "tokens" or ""
    const char* definition;  // with its source
    bool ascending;          // whether small values come first in a ranking
    bool self_only;          // compares places in one text: not defined for cross-attention
    /// The value of one query, or NaN where it is not defined. row: weights of query q on the keys it may
    /// see, or more.
    float (*of_query)(std::span<const float> row, int q, std::span<const int> ids);
};

std::span<const HeadStatistic> head_statistics();
constexpr int kStatistics = 7;

/// The statistic with this key, or nullptr.
const HeadStatistic* find_statistic(std::string_view key);

/// What is known of one head: its statistics (in table order, NaN where not defined) and a small picture.
struct HeadSummary {
    std::array<float, kStatistics> statistics;
    Matrix thumbnail;  // [t, t], the largest weight of the cells each entry covers; −1 where all of them are
                       // masked
};

/// Indices of heads in the order of a statistic, the largest (or smallest, where that comes first) in front;
/// values that are not defined come last.
std::vector<int> order_by(const std::vector<float>& values, bool ascending);

/// Summaries of all heads. Thumbnails have at most `thumbnail` rows, as many for
/// every head. An error means that `cancel` was set; it is read between heads.
Result<PerHead<HeadSummary>> summarize_heads(const Trace& trace, int thumbnail, ThreadPool& pool,
                                             const CancelFlag* cancel = nullptr);

/// Ids for measuring duplicate-token and induction heads: `length` random ids, twice (Olsson et al. 2022).
std::vector<int> repeated_random_ids(int vocab, int length, uint64_t seed);

}  // namespace headlight
