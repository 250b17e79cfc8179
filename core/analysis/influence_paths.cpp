// From one row of the last stack down to the embeddings, block by block.
#include <algorithm>
#include <cmath>
#include <functional>

#include "analysis/flow.h"
#include "analysis/influence.h"
#include "base/cast.h"
#include "base/check.h"

namespace headlight {

namespace {

/// What some rows behind an attention block were made of.
struct RowShares {
    Matrix keys;   // [rows, keys]
    Vector stays;  // [rows], of their own stream where that is no key
};
/// Of the queries from `first` on.
using SharesOf = std::function<RowShares(int first, int rows)>;

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

/// Prepares a block before its rows are asked for.
using BlockShares = std::function<SharesOf(int block)>;

Result<std::vector<Vector>> walk_down(const Trace& trace, int position, const BlockShares& of_block,
                                      ThreadPool& pool, const CancelFlag* cancel) {
    const ModelConfig& c = trace.config();
    const CancelScope scope(pool, cancel);
    std::vector<Vector> reached;
    for (const Sequence& s : trace.request.inputs) reached.push_back(Vector::Zero(s.size()));
    HEADLIGHT_CHECK(position >= 0 && position < reached.back().size());
    reached.back()[position] = 1;
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

/// Lengths of what one block's heads move, after Kobayashi et al.: with f = v W_O of each head, key j adds
/// Σ_h α_h f_h to query i, and its squared length is αᵀ G α with the products G of that key's f.
class ContributionBlock {
public:
    ContributionBlock(const Trace& trace, int block, ThreadPool& pool)
        : trace_(trace), block_(block), heads_(trace.config().heads(block)) {
        stream_ = trace.resid_before(block, pool);
        const AttentionWeights& w = trace.weights(block);
        after_ = trace.config().norm_place == NormPlace::after;
        moved_norm_ = after_ ? w.norm : w.post_norm;
        scales_ = Vector::Ones(stream_.rows());
        if (after_) bend(stream_);
        if (moved_norm_ && !after_) read_scales(pool);
        project_values(pool);
    }

    RowShares rows(int first, int count) const {
        const bool self = trace_.config().block(block_).kind != AttentionKind::cross;
        RowShares out{Matrix(count, trace_.key_count(block_)), Vector::Zero(count)};
        std::vector<Matrix> patterns;
        for (int h = 0; h < heads_; ++h) patterns.push_back(trace_.pattern_rows(block_, h, first, count));
        Vector weights(heads_);
        for (int i = 0; i < count; ++i) {
            const auto own = stream_.row(first + i);
            for (Index j = 0; j < out.keys.cols(); ++j) {
                for (int h = 0; h < heads_; ++h) weights[h] = patterns[h](i, j) * scales_[first + i];
                out.keys(i, j) =
                    self && j == first + i ? (own + moved(j, weights)).norm() : length(j, weights);
            }
            if (!self) out.stays[i] = own.norm();
            const float sum = std::max(out.keys.row(i).sum() + out.stays[i], 1e-30f);
            out.keys.row(i) /= sum;
            out.stays[i] /= sum;
        }
        return out;
    }

private:
    /// A norm's straight part, but for the scale of a row.
    void bend(Matrix& rows) const {
        if (trace_.config().norm == NormKind::layer_norm) rows.colwise() -= rows.rowwise().mean().eval();
        rows.array().rowwise() *=
            Eigen::Map<const Eigen::RowVectorXf>(moved_norm_.weight, rows.cols()).array();
    }
    /// One over what the norm on the block's output divides each row by.
    void read_scales(ThreadPool& pool) {
        Matrix out = trace_.proj_out(block_, 0, trace_.query_count(block_), pool);
        if (trace_.config().norm == NormKind::layer_norm) out.colwise() -= out.rowwise().mean().eval();
        scales_ = (out.array().square().rowwise().mean() + trace_.config().norm_eps).rsqrt().matrix();
    }
    void project_values(ThreadPool& pool) {
        Linear o = trace_.weights(block_).o;
        o.bias = nullptr;
        Matrix weights(o.in, o.out);  // the output matrix, decoded
        apply_linear(pool, Matrix::Identity(o.in, o.in), o, weights);
        const Index width = trace_.config().d_head(block_);
        for (int h = 0; h < heads_; ++h) {
            const Linear own =
                Linear::of_floats(weights.row(h * width).data(), nullptr, width, o.out, WeightLayout::in_out);
            const Matrix v = trace_.v(block_, h).all();
            const HeadRule* change = trace_.rule(block_).change(h);
            Matrix moved = Matrix::Zero(v.rows(), o.out);
            if (!change || change->z == HeadRule::Z::kept) apply_linear(pool, v, own, moved);
            if (moved_norm_) bend(moved);
            values_.push_back(std::move(moved));
        }
        products_.resize(trace_.key_count(block_), Index{heads_} * heads_);
        for (Index j = 0; j < products_.rows(); ++j)
            for (int a = 0; a < heads_; ++a)
                for (int b = 0; b < heads_; ++b)
                    products_(j, a * heads_ + b) = values_[a].row(j).dot(values_[b].row(j));
    }
    float length(Index j, const Vector& weights) const {
        const Eigen::Map<const Matrix> g(products_.row(j).data(), heads_, heads_);
        return std::sqrt(std::max(weights.dot(g * weights), 0.0f));
    }
    Eigen::RowVectorXf moved(Index j, const Vector& weights) const {
        Eigen::RowVectorXf sum = Eigen::RowVectorXf::Zero(stream_.cols());
        for (int h = 0; h < heads_; ++h) sum += weights[h] * values_[h].row(j);
        return sum;
    }

    const Trace& trace_;
    int block_, heads_;
    Matrix stream_;               // [n, d_model], what the block is added to
    std::vector<Matrix> values_;  // of each head [keys, d_model]
    Matrix products_;             // [keys, heads · heads]
    Vector scales_;               // [n]
    Norm moved_norm_;             // what the block adds goes through it, alone or (after_) with the stream
    bool after_ = false;
};

}  // namespace

Result<std::vector<Vector>> contribution_paths(const Trace& trace, int position, ThreadPool& pool,
                                               const CancelFlag* cancel) {
    const auto of_block = [&](int block) -> SharesOf {
        const auto shares = std::make_shared<ContributionBlock>(trace, block, pool);
        return [shares](int first, int rows) { return shares->rows(first, rows); };
    };
    return walk_down(trace, position, of_block, pool, cancel);
}

Result<std::vector<Vector>> rollout_paths(const Trace& trace, int position, ThreadPool& pool,
                                          const CancelFlag* cancel) {
    const auto of_block = [&](int block) -> SharesOf {
        return [&trace, block](int first, int rows) {
            return RowShares{0.5f * layer_pattern(trace, block, {}, first, rows),
                             Vector::Constant(rows, 0.5f)};
        };
    };
    return walk_down(trace, position, of_block, pool, cancel);
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
