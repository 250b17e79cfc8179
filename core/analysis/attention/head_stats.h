// Measures each head's kind of pattern by one number.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/cast.h"

namespace headlight {

/// Holds one query's row of a pattern, and what its statistics need of the text.
struct QueryRow {
    /// of the keys from first_key (n · kSumLanes) on; all others have weight 0
    std::span<const float> weights;
    int first_key, query;
    std::span<const int> last_copies;  // of the text
    float sink = 0;                    // weight that no key has (AttentionSpec::sinks)

    float weight(int key) const {
        const int i = key - first_key;
        return i >= 0 && i < isize(weights) ? weights[i] : 0.0f;
    }
};

/// Returns for each token the position of its previous occurrence, or −1.
std::vector<int> last_copies(std::span<const int> ids);

/// Defines a row of the table of statistics. A head's value is the mean over the queries for which it is
/// defined; fully masked rows count as uniform attention (MaskPlan). A head's sink counts as one more key of
/// the entropy, and not as a key elsewhere.
struct HeadStatistic {
    const char* key;         // "previous", on the command line and in files
    const char* label;       // "previous token", as shown to users
    const char* unit;        // "bits", "tokens" or ""
    const char* definition;  // with its source
    bool ascending;          // ranks small values first
    bool self_only;          // compares positions in one text: undefined for cross-attention
    /// Returns the value of one query, or NaN if it is undefined.
    float (*of_query)(const QueryRow& row);
};

std::span<const HeadStatistic> head_statistics();
constexpr int kStatistics = 7;

/// Returns the statistic with this key, or nullptr.
const HeadStatistic* find_statistic(std::string_view key);

/// Sorts heads by a statistic, the largest first (`ascending`: the smallest); undefined values come last.
std::vector<int> order_by(const std::vector<float>& values, bool ascending);
/// Sorts by magnitude, the largest first; undefined values come last.
std::vector<int> order_by_size(std::span<const float> values);

/// Returns ids to find duplicate-token and induction heads: `length` random ones, twice (Olsson et al. 2022).
std::vector<int> repeated_random_ids(int vocab, int length, uint64_t seed);

}  // namespace headlight
