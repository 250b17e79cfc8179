// From one row of the last stack down to the embeddings, block by block.
#include <algorithm>

#include "analysis/contribution.h"
#include "analysis/influence.h"
#include "base/cast.h"
#include "base/check.h"

namespace headlight {

namespace {

/// Takes the shares of a stack's rows through one block.
void pass_block(const Trace& trace, int block, const SharesOf& shares_of, std::vector<Vector>& reached,
                ThreadPool& pool) {
    constexpr int kRows = 64;
    const AttentionBlock where = trace.config().block(block);
    Vector& above = reached[where.stack];
    const int n = narrow<int>(above.size()), tiles = (n + kRows - 1) / kRows;
    Matrix parts = Matrix::Zero(tiles, trace.key_count(block));
    Vector stays = Vector::Zero(n);
    pool.run(tiles, [&](int i) {
        const int first = i * kRows, rows = std::min(kRows, n - first);
        const Vector some = above.segment(first, rows);
        if (some.maxCoeff() <= 0) return;
        const RowShares shares = shares_of(first, rows);
        parts.row(i) = some.transpose() * shares.keys;
        stays.segment(first, rows) = some.cwiseProduct(shares.stays);
    });
    above = stays;
    reached[where.key_stack()] += parts.colwise().sum().transpose();
}

Result<std::vector<Vector>> walk_down(const Trace& trace, std::span<const int> positions,
                                      const BlockShares& of_block, ThreadPool& pool,
                                      const CancelFlag* cancel) {
    const ModelConfig& c = trace.config();
    const CancelScope scope(pool, cancel);
    std::vector<Vector> reached;
    for (const Sequence& s : trace.request.inputs) reached.push_back(Vector::Zero(s.size()));
    for (const int position : positions) {
        HEADLIGHT_CHECK(position >= 0 && position < reached.back().size());
        reached.back()[position] += 1;
    }
    for (int s = isize(c.stacks) - 1; s >= 0; --s)
        for (int layer = c.stacks[s].layers - 1; layer >= 0; --layer) {
            const std::vector<int> blocks = c.blocks_of(s, layer);
            for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
                if (stopped(pool.cancel_flag())) return cancelled();
                if (!trace.rule(*block).skipped) pass_block(trace, *block, of_block(*block), reached, pool);
            }
        }
    return reached;
}

}  // namespace

Result<std::vector<Vector>> contribution_paths(const Trace& trace, std::span<const int> positions,
                                               ThreadPool& pool, const CancelFlag* cancel) {
    return walk_down(trace, positions, contribution_shares(trace, {}, pool), pool, cancel);
}

Result<std::vector<Vector>> rollout_paths(const Trace& trace, std::span<const int> positions,
                                          ThreadPool& pool, const CancelFlag* cancel) {
    return walk_down(trace, positions, rollout_shares(trace, {}), pool, cancel);
}

namespace {

/// Walks down while the reverse pass does.
class RelevanceWalk : public GradientObserver {
public:
    RelevanceWalk(const Trace& trace, int position) : trace_(trace) {
        for (const Sequence& s : trace.request.inputs) reached_.push_back(Vector::Zero(s.size()));
        reached_.back()[position] = 1;
    }
    void begin(int block) override {
        end_block();
        block_ = block;
        sums_ = Matrix::Zero(trace_.config().heads(block), trace_.key_count(block));
    }
    void see(int block, const GradientTile& tile) override {
        const PatternTile& at = tile.pattern;
        const Index rows = at.weights.rows(), keys = at.weights.cols();
        const Vector above = reached_[trace_.config().block(block).stack].segment(at.first, rows);
        if (above.maxCoeff() <= 0) return;
        const Matrix weighed = tile.by_weights.cwiseProduct(at.weights).cwiseMax(0.0f);
        sums_.row(at.head).segment(at.first_key, keys) += above.transpose() * weighed;
    }
    std::vector<Vector> finish() {
        end_block();
        return std::move(reached_);
    }

private:
    void end_block() {
        if (block_ >= 0)
            reached_[trace_.config().block(block_).key_stack()] += sums_.colwise().mean().transpose();
        block_ = -1;
    }
    const Trace& trace_;
    std::vector<Vector> reached_;
    int block_ = -1;
    Matrix sums_;  // [heads, keys]
};

}  // namespace

Result<std::vector<Vector>> relevance_paths(const Trace& trace, int position, const GradientSeed& seed,
                                            ThreadPool& pool, const CancelFlag* cancel) {
    RelevanceWalk walk(trace, position);
    TRY(const Gradients done, backward(trace, {&seed, 1}, pool, cancel, &walk));
    return walk.finish();
}

}  // namespace headlight
