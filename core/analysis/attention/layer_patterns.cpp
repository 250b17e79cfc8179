// Collects the patterns of one layer.
#include "analysis/attention/layer_patterns.h"

#include <algorithm>

#include "base/cast.h"
#include "trace/head_group.h"
#include "trace/large_pattern.h"

namespace headlight {

namespace {
constexpr int kMaxEntries = 64;
}

Result<std::vector<BlockPattern>> answer_layer_patterns(const Trace& trace,
                                                        const LayerPatternsRequest& request, ThreadPool& pool,
                                                        const CancelFlag* cancel) {
    const CancelScope scope(pool, cancel);
    std::vector<BlockPattern> out;
    for (int stack = 0; stack < isize(trace.config().stacks); ++stack) {
        const int layer = std::min(request.layer, trace.config().stacks[stack].depth() - 1);
        for (const int block : trace.config().blocks_of(stack, layer)) {
            if (request.head >= trace.config().heads(block)) continue;
            HeadGroup group{Combine::mean, {{block, request.head}}};
            if (request.head < 0) group.heads = heads_of_block(trace.config(), block);
            const Index queries = trace.query_count(block), keys = trace.key_count(block);
            const int step = map_step(queries, keys, kMaxEntries);
            out.push_back({block, step, trace.is_mixing(block),
                           max_pool_squares(queries, keys, step, pool, [&](int first, int rows) {
                               return combined_pattern_rows(trace, group, first, rows);
                           })});
        }
    }
    return out;
}

void LayerPatternsRequest::clamp_to(const Trace& t) { head = std::min(head, t.config().max_heads() - 1); }

}  // namespace headlight
