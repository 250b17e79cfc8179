// Traces rows of the last stack down to the embeddings, block by block.
#include <algorithm>

#include "analysis/attribution/contribution.h"
#include "analysis/attribution/influence.h"
#include "analysis/attribution/relevance.h"
#include "base/cast.h"
#include "base/check.h"

namespace headlight {

namespace {

/// Sums over positions of the last stack.
Result<std::vector<Vector>> paths_down(const Trace& trace, std::span<const int> positions,
                                       const BlockShares& of_block, ThreadPool& pool,
                                       const CancelFlag* cancel) {
    return guarded([&]() -> Result<std::vector<Vector>> {
        const CancelScope scope(pool, cancel);
        const int stack = isize(trace.config().stacks) - 1, layer = trace.config().stacks[stack].depth() - 1;
        Matrix start = Matrix::Zero(1, trace.output().size());
        for (const int position : positions) {
            HEADLIGHT_CHECK(position >= 0 && position < start.cols());
            start(0, position) += 1;
        }
        PathWalk walk(trace, stack, layer, start);
        walk.through(blocks_down(trace.config(), stack, layer), of_block, pool);
        return by_stack(trace, walk.all().row(0));
    });
}

}  // namespace

Result<std::vector<Vector>> contribution_paths(const Trace& trace, std::span<const int> positions,
                                               ThreadPool& pool, const CancelFlag* cancel) {
    return paths_down(trace, positions, contribution_shares(trace, {}, pool), pool, cancel);
}

Result<std::vector<Vector>> rollout_paths(const Trace& trace, std::span<const int> positions,
                                          ThreadPool& pool, const CancelFlag* cancel) {
    return paths_down(trace, positions, rollout_shares(trace, {}), pool, cancel);
}

Result<Matrix> relevance_paths(const Trace& trace, std::span<const int> positions,
                               std::vector<GradientSeed> seeds, ThreadPool& pool, const CancelFlag* cancel) {
    HEADLIGHT_CHECK(positions.size() == seeds.size());
    const int stack = isize(trace.config().stacks) - 1, layer = trace.config().stacks[stack].depth() - 1;
    const std::vector<int> blocks = blocks_down(trace.config(), stack, layer);
    Matrix out(std::ssize(positions), trace.token_count());
    const size_t together = size_t(gradients_together(trace));
    for (size_t first = 0; first < seeds.size(); first += together) {
        const size_t count = std::min(together, seeds.size() - first);
        Matrix starts = Matrix::Zero(Index(count), trace.output().size());
        for (size_t i = 0; i < count; ++i) {
            seeds[first + i].output = narrow<int>(i);
            starts(Index(i), positions[first + i]) = 1;
        }
        PathWalk walk(trace, stack, layer, starts);
        const IncludedHeads all;
        RelevanceWalk observer(trace, all, blocks, walk);
        TRY([[maybe_unused]] const auto done,
            embedding_gradients(trace, std::span(seeds).subspan(first, count), pool, cancel, &observer));
        observer.finish();
        out.middleRows(Index(first), Index(count)) = walk.all();
    }
    return out;
}

std::vector<Vector> by_stack(const Trace& trace, const Eigen::RowVectorXf& tokens) {
    std::vector<Vector> out;
    for (int s = 0; s < isize(trace.request.inputs); ++s)
        out.push_back(tokens.segment(trace.first_token(s), trace.request.inputs[s].size()).transpose());
    return out;
}

}  // namespace headlight
