#include "analysis/layer_patterns.h"

#include <algorithm>
#include <numeric>

#include "trace/large_pattern.h"

namespace headlight {

namespace {

constexpr int kMostEntries = 64;

/// Some rows of the mean of some heads' masked patterns.
Matrix mean_rows(const Trace& trace, int site, const std::vector<int>& heads, int first, int rows) {
    Matrix sum = masked_pattern_rows(trace, site, heads[0], first, rows);
    for (size_t i = 1; i < heads.size(); ++i) sum += masked_pattern_rows(trace, site, heads[i], first, rows);
    return sum / static_cast<float>(heads.size());
}

}  // namespace

Result<std::vector<SitePattern>> find(const Trace& trace, const LayerPatternsWanted& wanted, ThreadPool& pool,
                                      const CancelFlag* cancel) {
    const CancelScope scope(pool, cancel);
    std::vector<SitePattern> out;
    for (size_t stack = 0; stack < trace.config().stacks.size(); ++stack) {
        const int layer = std::min(wanted.layer, trace.config().stacks[stack].layers - 1);
        for (const int site : trace.config().sites_of(static_cast<int>(stack), layer)) {
            if (wanted.head >= trace.config().heads(site)) continue;
            std::vector<int> heads{wanted.head};
            if (wanted.head < 0) {
                heads.resize(static_cast<size_t>(trace.config().heads(site)));
                std::iota(heads.begin(), heads.end(), 0);
            }
            const Index queries = trace.query_count(site), keys = trace.key_count(site);
            const int step = map_step(queries, keys, kMostEntries);
            out.push_back(
                {site, step, largest_of_squares(queries, keys, step, pool, [&](int first, int rows) {
                     return mean_rows(trace, site, heads, first, rows);
                 })});
        }
    }
    return out;
}

}  // namespace headlight
