#include "analysis/contribution.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/check.h"
#include "base/memory.h"

namespace headlight {

namespace {

/// Lengths of what one block's heads move, after Kobayashi et al.: with f = v W_O of each head, key j adds
/// Σ_h α_h f_h to query i, and its squared length is αᵀ G α with the products G of that key's f.
class ContributionBlock {
public:
    ContributionBlock(const Trace& trace, int block, const IncludedHeads& included, ThreadPool& pool)
        : trace_(trace), included_(included), block_(block), heads_(trace.config().heads(block)) {
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
            const bool counts = !included_.left_out.count({block_, h});
            if (counts && (!change || change->z == HeadRule::Z::kept)) apply_linear(pool, v, own, moved);
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
    IncludedHeads included_;
    int block_, heads_;
    Matrix stream_;               // [n, d_model], what the block is added to
    std::vector<Matrix> values_;  // of each head [keys, d_model]
    Matrix products_;             // [keys, heads · heads]
    Vector scales_;               // [n]
    Norm moved_norm_;             // what the block adds goes through it, alone or (after_) with the stream
    bool after_ = false;
};

}  // namespace

BlockShares contribution_shares(const Trace& trace, const IncludedHeads& included, ThreadPool& pool) {
    return [&trace, included, &pool](int block) -> SharesOf {
        const auto shares = std::make_shared<ContributionBlock>(trace, block, included, pool);
        return [shares](int first, int rows) { return shares->rows(first, rows); };
    };
}

BlockShares rollout_shares(const Trace& trace, const IncludedHeads& included) {
    return [&trace, included](int block) -> SharesOf {
        return [&trace, included, block](int first, int rows) {
            RowShares out{0.5f * layer_pattern(trace, block, included, first, rows),
                          Vector::Constant(rows, 0.5f)};
            if (trace.config().block(block).kind == AttentionKind::cross) return out;
            for (int i = 0; i < rows; ++i) out.keys(i, first + i) += 0.5f;
            out.stays.setZero();
            return out;
        };
    };
}

namespace {

/// What the rows of one stack are made of, [n, tokens of all stacks], through one block of it.
Matrix through_block(const Trace& trace, int block, const SharesOf& shares_of, const Matrix& rows,
                     const Matrix& keys, ThreadPool& pool) {
    constexpr int kRows = 64;
    const int n = trace.query_count(block);
    Matrix out(n, rows.cols());
    pool.run((n + kRows - 1) / kRows, [&](int tile) {
        const int first = tile * kRows, count = std::min(kRows, n - first);
        const RowShares shares = shares_of(first, count);
        out.middleRows(first, count) =
            shares.keys * keys + shares.stays.asDiagonal() * rows.middleRows(first, count);
    });
    return out;
}

}  // namespace

Result<Matrix> shares_through(const Trace& trace, int stack, int layer, const BlockShares& of_block,
                              ThreadPool& pool, const CancelFlag* cancel) {
    const ModelConfig& c = trace.config();
    const CancelScope scope(pool, cancel);
    Index tokens = 0, before = 0;
    for (const Sequence& s : trace.request.inputs) tokens += s.size();
    std::vector<Matrix> made;
    for (int s = 0; s <= stack; ++s) {
        const Index n = trace.request.inputs[s].size();
        check_fits(int64_t{n} * tokens * 8);
        made.push_back(Matrix::Zero(n, tokens));
        made.back().middleCols(before, n).setIdentity();
        before += n;
        for (int l = 0; l <= (s == stack ? layer : c.stacks[s].layers - 1); ++l)
            for (const int block : c.blocks_of(s, l)) {
                if (stopped(pool.cancel_flag())) return cancelled();
                if (!trace.rule(block).skipped)
                    made[s] = through_block(trace, block, of_block(block), made[s],
                                            made[c.block(block).key_stack()], pool);
            }
    }
    return std::move(made.back());
}

}  // namespace headlight
