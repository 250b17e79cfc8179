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
    return guarded([&]() -> Result<std::vector<Vector>> {
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
                    pool.stop_point();
                    if (!trace.rule(*block).skipped)
                        pass_block(trace, *block, of_block(*block), reached, pool);
                }
            }
        return reached;
    });
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

/// Walks down from one position of each number while the reverse pass does.
class RelevanceWalk : public GradientObserver {
public:
    RelevanceWalk(const Trace& trace, std::span<const int> positions) : trace_(trace) {
        for (const Sequence& s : trace.request.inputs)
            reached_.push_back(Matrix::Zero(std::ssize(positions), s.size()));
        for (size_t i = 0; i < positions.size(); ++i) reached_.back()(Index(i), positions[i]) = 1;
    }
    void begin(int block) override {
        end_block();
        block_ = block;
        sums_ = Matrix::Zero(reached_.back().rows() * heads(), trace_.key_count(block));
    }
    void see(int block, const GradientTile& tile) override {
        const PatternTile& at = tile.pattern;
        const Index rows = at.weights.rows(), keys = at.weights.cols();
        const auto above =
            reached_[trace_.config().block(block).stack].row(tile.number).segment(at.first, rows);
        if (above.maxCoeff() <= 0) return;
        const Matrix weighed = tile.by_weights.cwiseProduct(at.weights).cwiseMax(0.0f);
        sums_.row(tile.number * heads() + at.head).segment(at.first_key, keys) += above * weighed;
    }
    /// [positions, tokens of all stacks].
    Matrix finish() {
        end_block();
        Matrix out(reached_.back().rows(), trace_.token_count());
        for (int s = 0; s < isize(reached_); ++s)
            out.middleCols(trace_.first_token(s), reached_[s].cols()) = reached_[s];
        return out;
    }

private:
    int heads() const { return trace_.config().heads(block_); }
    void end_block() {
        if (block_ < 0) return;
        Matrix& keys = reached_[trace_.config().block(block_).key_stack()];
        for (Index i = 0; i < keys.rows(); ++i)
            keys.row(i) += sums_.middleRows(i * heads(), heads()).colwise().mean();
        block_ = -1;
    }
    const Trace& trace_;
    std::vector<Matrix> reached_;  // of each stack [positions, tokens]
    int block_ = -1;
    Matrix sums_;  // [positions · heads, keys]
};

}  // namespace

Result<Matrix> relevance_paths(const Trace& trace, std::span<const int> positions,
                               std::vector<GradientSeed> seeds, ThreadPool& pool, const CancelFlag* cancel) {
    HEADLIGHT_CHECK(positions.size() == seeds.size());
    Matrix out(std::ssize(positions), trace.token_count());
    const size_t together = size_t(gradients_together(trace));
    for (size_t first = 0; first < seeds.size(); first += together) {
        const size_t count = std::min(together, seeds.size() - first);
        for (size_t i = 0; i < count; ++i) seeds[first + i].number = narrow<int>(i);
        RelevanceWalk walk(trace, positions.subspan(first, count));
        TRY([[maybe_unused]] const auto done,
            embedding_gradients(trace, std::span(seeds).subspan(first, count), pool, cancel, &walk));
        out.middleRows(Index(first), Index(count)) = walk.finish();
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
