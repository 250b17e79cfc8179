// Computes contributions by vector norms.
#include "analysis/attribution/contribution.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/circuits/head_matrices.h"
#include "base/cast.h"
#include "base/check.h"
#include "base/memory.h"
#include "base/spare.h"
#include "model/mixers/attention_gate.h"

namespace headlight {

namespace {

/// Computes lengths of what one block's heads move, after Kobayashi et al.: with f = v W_O of each head, key
/// j adds Σ_h α_h f_h to query i, of squared length αᵀ G α with the Gram matrix G of that key's f. With the
/// stream x of the query's own token, |x + Σ α f|² = |x|² + 2 Σ α (x · f) + αᵀ G α. Computes f for some keys
/// at a time and keeps only these products, because f is `heads` times as large as the stream.
class ContributionBlock {
public:
    ContributionBlock(const Trace& trace, int block, const IncludedHeads& included, ThreadPool& pool)
        : trace_(trace),
          pool_(pool),
          block_(block),
          heads_(trace.config().heads(block)),
          self_(trace.config().block(block).kind != AttentionKind::cross) {
        check_fits(int64_t{trace.key_count(block)} * heads_ * (heads_ + 2) * 4);
        const AttentionWeights& w = trace.weights(block);
        after_ = trace.config().layer_of(block).norms_sum();
        moved_norm_ = after_ ? w.norm : w.post_norm;
        // [n, d_model], the stream that the block's output is added to
        Matrix stream = trace.resid_before(block, pool);
        scales_ = Vector::Ones(stream.rows());
        if (after_) apply_linear_norm(stream);
        if (moved_norm_ && !after_) compute_scales();
        squares_ = stream.cast<double>().rowwise().squaredNorm();
        moving_.resize(trace.query_count(block), heads_);
        for (int h = 0; h < heads_; ++h)
            moving_.col(h) = moving_rows(trace, included, {block, h}, 0, trace.query_count(block));
        gate_heads();
        multiply_values(stream);
    }

    RowShares rows(int first, int count) const {
        RowShares out{Matrix(count, trace_.key_count(block_)), Vector::Zero(count)};
        const int together = queries_together();
        for (int at = 0; at < count && !pool_.stopped(); at += together)
            measure(first + at, std::min(together, count - at), at, out.keys);
        for (int i = 0; i < count; ++i) {
            // In self-attention the length of a query's own key already includes the stream.
            out.residual_weight[i] =
                self_ ? std::exchange(out.keys(i, first + i), 0.0f) : float(std::sqrt(squares_[first + i]));
            const float sum = std::max(out.keys.row(i).sum() + out.residual_weight[i], 1e-30f);
            out.keys.row(i) /= sum;
            out.residual_weight[i] /= sum;
        }
        return out;
    }

private:
    /// Returns the number of queries whose patterns a thread holds at once: 16 MB, or one query if larger.
    int queries_together() const {
        constexpr Index kEntries = 1 << 22;
        return narrow<int>(std::max<Index>(1, kEntries / (Index{heads_} * trace_.key_count(block_))));
    }
    /// Applies the linear part of a norm, without the scale of a row.
    void apply_linear_norm(MatrixRef rows) const {
        if (trace_.config().norm == NormKind::layer_norm) rows.colwise() -= rows.rowwise().mean().eval();
        rows.array().rowwise() *=
            Eigen::Map<const Eigen::RowVectorXf>(moved_norm_.weight, rows.cols()).array();
    }
    /// Computes 1 / (what the block's post-norm divides each row by).
    void compute_scales() {
        Matrix out = trace_.proj_out(block_, 0, trace_.query_count(block_), pool_);
        if (trace_.config().norm == NormKind::layer_norm) out.colwise() -= out.rowwise().mean().eval();
        scales_ = (out.array().square().rowwise().mean() + trace_.config().norm_eps).rsqrt().matrix();
    }
    /// f = v W_O of each head for the keys from `first` on, [keys, heads · d_model].
    void project_values(const Matrix& weights, int first, Matrix& moved) const {
        const Index width = trace_.config().d_value(block_), d = weights.cols();
        moved.setZero();
        for (int h = 0; h < heads_; ++h) {
            if (moving_.col(h).isZero()) continue;
            auto own = moved.middleCols(h * d, d);
            apply_linear(
                pool_, trace_.v(block_, h).middleRows(first, moved.rows()),
                Linear::of_floats(weights.row(h * width).data(), nullptr, width, d, WeightLayout::in_out),
                own);
            if (moved_norm_) apply_linear_norm(own);
        }
    }
    /// Multiplies what heads move by their gates. A gate of each component changes f of a key by query.
    void gate_heads() {
        if (const std::string missing = missing_contributions(trace_); !missing.empty())
            throw Failure(Error{missing + "; trace by attention rollout, or by gradients."});
        const Rows& scores = trace_.attention(block_).gate;
        if (scores.size() == 0) return;
        moving_.array() *= gate_factors(trace_.config().attention(block_).gate, scores.all()).array();
    }
    void multiply_values(const Matrix& stream) {
        constexpr Index kEntries = 1 << 23;  // entries of f: 32 MB
        const Linear& o = trace_.weights(block_).o;
        const Matrix weights = input_rows(o, 0, o.in);
        const int keys = trace_.key_count(block_);
        const int together =
            narrow<int>(std::clamp<Index>(kEntries / (heads_ * weights.cols()), 1, kBlockRows));
        products_.resize(keys, Index{heads_} * heads_);
        stream_products_ = Matrix::Zero(self_ ? keys : 0, heads_);
        for (int first = 0; first < keys; first += together) {
            pool_.stop_point();
            Matrix moved = spare_matrix(std::min(together, keys - first), heads_ * weights.cols());
            project_values(weights, first, moved);
            pool_.run(narrow<int>(moved.rows()), [&](int i) {
                const Eigen::Map<const Matrix> f(moved.row(i).data(), heads_, weights.cols());
                Eigen::Map<Matrix>(products_.row(first + i).data(), heads_, heads_).noalias() =
                    f * f.transpose();
                if (self_)
                    stream_products_.row(first + i) = (f * stream.row(first + i).transpose()).transpose();
            });
            leave_spare(std::move(moved));
        }
    }
    /// ‖Σ_h α f‖ of each key for some queries, plus the stream for its own; writes `lengths` from `row` on.
    void measure(int first, int queries, int row, Matrix& lengths) const {
        const std::vector<Matrix> patterns = moving_patterns(first, queries);
        Matrix weights(queries, heads_), products(queries, heads_);
        for (Index key = 0; key < lengths.cols(); ++key) {
            if (pool_.stopped()) return;
            for (int h = 0; h < heads_; ++h) weights.col(h) = patterns[size_t(h)].col(key);
            weights.array().colwise() *= scales_.segment(first, queries).array();
            auto column = lengths.col(key).segment(row, queries);
            if ((weights.array() == 0).all()) {
                column.setZero();
            } else {  // √(αᵀ G α)
                products.noalias() =
                    weights * Eigen::Map<const Matrix>(products_.row(key).data(), heads_, heads_);
                column = products.cwiseProduct(weights).rowwise().sum().cwiseMax(0.0f).cwiseSqrt();
            }
            if (self_ && key >= first && key < first + queries)
                column[key - first] = with_stream(key, weights.row(key - first), column[key - first]);
        }
    }
    /// Returns α of each head, [queries, keys]; 0 in rows that the head does not move.
    std::vector<Matrix> moving_patterns(int first, int queries) const {
        std::vector<Matrix> patterns;
        for (int h = 0; h < heads_; ++h)
            patterns.push_back(moving_.col(h).segment(first, queries).asDiagonal() *
                               trace_.pattern_rows(block_, h, first, queries));
        return patterns;
    }
    /// |x + Σ α f| = √(|x|² + 2 Σ α (x · f) + |Σ α f|²) at a token, given the length of Σ α f.
    float with_stream(Index token, const Eigen::Ref<const Eigen::RowVectorXf>& weights, float length) const {
        const double square = squares_[token] + 2 * double(weights.dot(stream_products_.row(token))) +
                              double(length) * double(length);
        return float(std::sqrt(std::max(square, 0.0)));
    }

    const Trace& trace_;
    ThreadPool& pool_;
    int block_, heads_;
    bool self_;
    Matrix moving_;            // [n, heads]: moving_rows
    Matrix products_;          // [keys, heads · heads]
    Matrix stream_products_;   // [n, heads]: stream · f of the query's own token
    Eigen::VectorXd squares_;  // [n]: squared lengths of the stream
    Vector scales_;            // [n]
    Norm moved_norm_;          // norm of the block's output, alone or (after_) with the stream
    bool after_ = false;
};

}  // namespace

std::string missing_contributions(const Trace& trace) {
    if (!trace.has_weights()) return "A trace holds no weights, so contributions cannot be computed";
    for (int block = 0; block < trace.config().blocks(); ++block)
        if (trace.config().attention(block).gate.width == AttentionGate::Width::component)
            return "A gate differs by component of z, so that lengths of what keys contribute are not "
                   "computed";
    if (trace.config().has_streams())
        return "A token goes on in several streams beside the one that attention adds to, so that lengths of "
               "what keys contribute are not computed";
    return "";
}

BlockShares contribution_shares(const Trace& trace, const IncludedHeads& included, ThreadPool& pool) {
    return [&trace, included, &pool](int block) -> SharesOf {
        const auto shares = std::make_shared<ContributionBlock>(trace, block, included, pool);
        return [shares](int first, int rows) { return shares->rows(first, rows); };
    };
}

}  // namespace headlight
