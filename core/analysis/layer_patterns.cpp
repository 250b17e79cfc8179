#include "analysis/layer_patterns.h"

#include <algorithm>
#include <numeric>

#include "base/cast.h"
#include "trace/large_pattern.h"

namespace headlight {

namespace {

constexpr int kMaxEntries = 64;

/// Some rows of the mean of some heads' masked patterns.
Matrix mean_rows(const Trace& trace, int block, const std::vector<int>& heads, int first, int rows) {
    Matrix sum = masked_pattern_rows(trace, block, heads[0], first, rows);
    for (size_t i = 1; i < heads.size(); ++i) sum += masked_pattern_rows(trace, block, heads[i], first, rows);
    return sum / float(heads.size());
}

}  // namespace

Result<std::vector<BlockPattern>> answer(const Trace& trace, const LayerPatternsWanted& wanted,
                                         ThreadPool& pool, const CancelFlag* cancel) {
    const CancelScope scope(pool, cancel);
    std::vector<BlockPattern> out;
    for (int stack = 0; stack < isize(trace.config().stacks); ++stack) {
        const int layer = std::min(wanted.layer, trace.config().stacks[stack].layers - 1);
        for (const int block : trace.config().blocks_of(stack, layer)) {
            if (wanted.head >= trace.config().heads(block)) continue;
            std::vector<int> heads{wanted.head};
            if (wanted.head < 0) {
                heads.resize(trace.config().heads(block));
                std::iota(heads.begin(), heads.end(), 0);
            }
            const Index queries = trace.query_count(block), keys = trace.key_count(block);
            const int step = map_step(queries, keys, kMaxEntries);
            out.push_back(
                {block, step, largest_of_squares(queries, keys, step, pool, [&](int first, int rows) {
                     return mean_rows(trace, block, heads, first, rows);
                 })});
        }
    }
    return out;
}

void LayerPatternsWanted::fit(const Trace& t) { head = std::min(head, t.config().max_heads() - 1); }

}  // namespace headlight
