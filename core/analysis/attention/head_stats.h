// One number per head: what kind of pattern it has.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "base/cast.h"

namespace headlight {

/// One query's row of a pattern, and what its statistics ask of the text.
struct QueryRow {
    std::span<const float> weights;  // of the keys from first_key (n · kSumLanes) on; others weigh nothing
    int first_key, query;
    std::span<const int> last_copies;  // of the text

    float weight(int key) const {
        const int i = key - first_key;
        return i >= 0 && i < isize(weights) ? weights[i] : 0.0f;
    }
};

/// For each token the place of the last one before it that has its id, or −1.
std::vector<int> last_copies(std::span<const int> ids);

/// A row of the table of statistics. The value of a head is the mean over the queries for which it is
/// defined; fully masked rows count as the uniform attention that they are (MaskPlan).
struct HeadStatistic {
    const char* key;         // "previous", for the command line and files
    const char* label;       // "previous token", for people
    const char* unit;        // "bits", "tokens" or ""
    const char* definition;  // with its source
    bool ascending;          // whether small values come first in a ranking
    bool self_only;          // compares places in one text: not defined for cross-attention
    /// The value of one query, or NaN where it is not defined.
    float (*of_query)(const QueryRow& row);
};

std::span<const HeadStatistic> head_statistics();
constexpr int kStatistics = 7;

/// The statistic with this key, or nullptr.
const HeadStatistic* find_statistic(std::string_view key);

/// Indices of heads in the order of a statistic, the largest (or smallest, where that comes first) in front;
/// values that are not defined come last.
std::vector<int> order_by(const std::vector<float>& values, bool ascending);

/// Ids for measuring duplicate-token and induction heads: `length` random ids, twice (Olsson et al. 2022).
std::vector<int> repeated_random_ids(int vocab, int length, uint64_t seed);

}  // namespace headlight
