// Propagates gradients down one layer: the MLP, cross-attention, self-attention. Recomputes what the forward
// pass did not keep, once for all outputs.
#include "model/backward/layer_backward.h"

#include <vector>

#include "base/check.h"
#include "base/spare.h"
#include "model/backward/vector_jacobian.h"

namespace headlight {

namespace {

/// sum = x + block(reads); out = sum (pre-norm) or norm(sum) (post-norm).
struct BlockOutput {
    Matrix sum, out;
};

/// Holds the gradients by x and by reads of x + block(reads).
struct ResidualGradients {
    Matrix x, reads;
};

struct LayerBackward {
    StackBackward& s;
    int l;
    const LayerWeights& w;
    const LayerActivations& a;
    GradientRows& rows;  // rows of the current gradient
    LayerGradients& out;
    const bool kept, after;  // kept: store gradients; after: post-norm

    Matrix run(Matrix by_post);
    struct Between {
        BlockOutput self, cross;
        Matrix mlp_sum;
    };
    Between rerun_blocks(const Matrix& resid_pre);
    template <class Block>
    BlockOutput rerun(const Norm& norm, const Matrix& x, const Block& block) const {
        BlockOutput p{x + block(), {}};
        p.out = after ? s.norm(norm, p.sum) : p.sum;
        return p;
    }
    template <class Vjp>
    ResidualGradients residual_vjp(const Norm& norm, const Matrix& reads, const Matrix& sum, Matrix d,
                                   const Vjp& vjp);
    Matrix self_attention_vjp(const Matrix& x, Matrix d);
    Matrix cross_attention_vjp(Matrix d);
    Matrix mlp_vjp_of(const Matrix& x, const Matrix& d) const;
    void block_vjp(int block, const AttentionWeights& weights, const AttentionActivations& attention,
                   Matrix d, const GradientRows& keys, AttentionGradients& gradients) const;
    Matrix heads_vjp(const Matrix& x, Matrix d, const GradientRows& of, const Linear& weights,
                     const Norm& norm, int heads) const;
    void undo_rotation(const GradientRows& of, int heads, Matrix& d) const;
    Matrix norm_vjp_of_rows(const Norm& norm, const Matrix& x, const Matrix& d) const {
        return norm_vjp(s.config(), norm, x, d, rows.token_of(), s.pool);
    }
    /// Copies a gradient to `to`, if gradients are kept.
    void keep(Matrix& to, const Matrix& gradient) const {
        if (kept) to = gradient;
    }
};

/// Propagates a block's output gradient to z, then to q, k and v; its queries are `rows`.
void LayerBackward::block_vjp(int block, const AttentionWeights& weights,
                              const AttentionActivations& attention, Matrix d, const GradientRows& keys,
                              AttentionGradients& gradients) const {
    if (weights.post_norm) {
        Matrix z(attention.q.rows(), weights.o.in);
        attend(s.pool, *attention.rule, attention.q, attention.k, attention.v, 0, z);
        d = norm_vjp_of_rows(weights.post_norm, project_out(weights, z, s.pool), d);
    }
    gradients.z = linear_vjp(s.pool, d, weights.o);
    leave_spare(std::move(d));
    const Index width = gradients.z.cols() / attention.rule->heads;
    for (int head = 0; head < isize(attention.rule->changed); ++head)
        attention.rule->changed[head].given_z.zero_replaced(rows.token_of(),
                                                            gradients.z.middleCols(head * width, width));
    SeeGradient see;
    if (GradientObserver* const observer = s.observer) {
        observer->begin(block);
        see = [observer, block](const GradientTile& tile) { observer->see(block, tile); };
    }
    attention_vjp(s.pool, attention, rows, keys, gradients, see);
}

/// Returns zero gradients, for a skipped block.
AttentionGradients no_gradients(const AttentionActivations& a, const GradientRows& queries,
                                const GradientRows& keys) {
    const Matrix by_queries = Matrix::Zero(queries.rows(), a.q.cols()),
                 by_keys = Matrix::Zero(keys.rows(), a.k.cols());
    return {by_queries, by_queries, by_keys, by_keys, {}};
}

/// Undoes the rotation: from the gradient by rotated q or k to the one before it.
void LayerBackward::undo_rotation(const GradientRows& of, int heads, Matrix& d) const {
    const Rope& rope = s.config().rope_of(s.stack, l);
    const RopeTable& table = s.inverse_rope.of(s.config(), rope);
    if (!table.sine.size()) return;
    RopeTable each{Matrix(of.rows(), table.sine.cols()), Matrix(of.rows(), table.sine.cols())};
    for (Index i = 0; i < of.rows(); ++i) {
        each.cosine.row(i) = table.cosine.row(of.token_of()[i]);
        each.sine.row(i) = table.sine.row(of.token_of()[i]);
    }
    apply_rope(rope, each, heads, s.pool, d);
}

/// Propagates from q or k to x: back through the rotation, the norm of each head and the projection.
Matrix LayerBackward::heads_vjp(const Matrix& x, Matrix d, const GradientRows& of, const Linear& weights,
                                const Norm& norm, int heads) const {
    undo_rotation(of, heads, d);
    if (norm) {
        const Matrix before = project(s.pool, x, weights);
        const Index width = d.cols() / heads;
        std::vector<int> head_rows;
        for (const int token : of.token_of())
            for (int h = 0; h < heads; ++h) head_rows.push_back(token * heads + h);
        const Matrix normal =
            norm_vjp(s.config(), norm, Eigen::Map<const Matrix>(before.data(), x.rows() * heads, width),
                     Eigen::Map<const Matrix>(d.data(), d.rows() * heads, width), head_rows, s.pool);
        d = Eigen::Map<const Matrix>(normal.data(), d.rows(), d.cols());
    }
    return linear_vjp(s.pool, d, weights);
}

void add_spare(Matrix& to, Matrix part) {
    to += part;
    leave_spare(std::move(part));
}

Matrix LayerBackward::self_attention_vjp(const Matrix& x, Matrix d) {
    const AttentionRule& rule = *a.self.rule;
    if (rule.skipped) {
        if (kept) out.self = no_gradients(a.self, rows, rows);
        d.setZero();
        return d;
    }
    rule.given_out.zero_replaced(rows.token_of(), d);
    const GradientRows queries = query_rows(rule, rows), entering = entering_rows(rule, queries);
    d = rows.widened(std::move(d), queries);
    rows = queries;
    AttentionGradients g;
    block_vjp(s.blocks_of(l).front(), w.self, a.self, std::move(d), entering, g);
    rows = entering;
    Matrix by_x = queries.widened(heads_vjp(x, g.q, queries, w.self.q, w.self.q_norm, rule.heads), rows);
    add_spare(by_x, heads_vjp(x, g.k, rows, w.self.k, w.self.k_norm, rule.kv_heads));
    add_spare(by_x, linear_vjp(s.pool, g.v, w.self.v));
    if (kept)
        out.self = std::move(g);
    else
        for (Matrix* gradient : {&g.q, &g.k, &g.v, &g.z}) leave_spare(std::move(*gradient));
    return by_x;
}

Matrix LayerBackward::cross_attention_vjp(Matrix d) {
    if (a.cross.rule->skipped) {
        if (kept) out.cross = no_gradients(a.cross, rows, s.source_rows);
        d.setZero();
        return d;
    }
    const AttentionRule& rule = *a.cross.rule;
    rule.given_out.zero_replaced(rows.token_of(), d);
    const GradientRows queries = query_rows(rule, rows);
    d = rows.widened(std::move(d), queries);
    rows = queries;
    AttentionGradients g;
    block_vjp(s.blocks_of(l).back(), w.cross, a.cross, std::move(d), s.source_rows, g);
    add_spare(s.by_sources, linear_vjp(s.pool, g.k, w.cross.k));
    add_spare(s.by_sources, linear_vjp(s.pool, g.v, w.cross.v));
    Matrix by_x = linear_vjp(s.pool, g.q, w.cross.q);
    if (kept) out.cross = std::move(g);
    return by_x;
}

Matrix LayerBackward::mlp_vjp_of(const Matrix& x, const Matrix& d) const {
    if (a.changed.no_mlp) return Matrix::Zero(d.rows(), d.cols());
    if (a.changed.mlp_out.empty()) return mlp_vjp(s, w, x, d, rows.token_of());
    Matrix own = d;
    a.changed.mlp_out.zero_replaced(rows.token_of(), own);
    return mlp_vjp(s, w, x, own, rows.token_of());
}

/// Propagates through x + block(norm(reads)), or norm(x + block(reads)) if post-norm. `vjp(x, d)` maps the
/// gradient by the block's output to the one by its input x; it may widen `rows`.
template <class Vjp>
ResidualGradients LayerBackward::residual_vjp(const Norm& norm, const Matrix& reads, const Matrix& sum,
                                              Matrix d, const Vjp& vjp) {
    if (after) d = norm_vjp_of_rows(norm, sum, d);
    const bool before = !after && norm;
    Matrix by_reads = vjp(before ? s.norm(norm, reads) : reads, d);
    if (before) leave_spare(std::exchange(by_reads, norm_vjp_of_rows(norm, reads, by_reads)));
    return {std::move(d), std::move(by_reads)};
}

/// Computes again the sums and outputs that the forward pass did not keep.
LayerBackward::Between LayerBackward::rerun_blocks(const Matrix& pre) {
    Between out;
    const bool parallel = s.config().parallel;
    if (after || !parallel)
        out.self = rerun(w.self.norm, pre, [&] { return attention_output(s, w.self, a.self); });
    if (s.stack.cross)
        out.cross = rerun(w.cross.norm, out.self.out, [&] { return attention_output(s, w.cross, a.cross); });
    if (!after) return out;
    const Matrix& mid = s.stack.cross ? out.cross.out : out.self.out;
    Matrix added = Matrix::Zero(mid.rows(), mid.cols());
    if (!a.changed.no_mlp) added = feed_forward(s, w, parallel ? pre : mid);
    a.changed.mlp_out.put(0, added);
    out.mlp_sum = mid + added;
    return out;
}

Matrix LayerBackward::run(Matrix d) {
    const Matrix pre = a.resid_pre.all();
    const bool parallel = s.config().parallel;
    const Between between = rerun_blocks(pre);
    const auto& [self, cross, mlp_sum] = between;
    const Matrix& mlp_reads = parallel ? pre : s.stack.cross ? cross.out : self.out;
    /// Adds the gradients of the two paths, around and through a block, at the rows that entered it.
    const auto joined = [this](ResidualGradients both, const GradientRows& left) {
        both.x = left.widened(std::move(both.x), rows);
        add_spare(both.x, std::move(both.reads));
        return std::move(both.x);
    };
    ResidualGradients by = residual_vjp(w.mlp_norm, mlp_reads, mlp_sum, std::move(d),
                                        [&](const Matrix& x, const Matrix& dy) { return mlp_vjp_of(x, dy); });
    keep(out.mlp_out, by.x);
    const Matrix mlp_input_gradient =
        parallel ? std::move(by.reads) : Matrix();  // bypasses the blocks between
    const GradientRows mlp_rows = rows;
    d = parallel ? std::move(by.x) : joined(std::move(by), mlp_rows);
    keep(out.resid_mid, d);
    if (s.stack.cross) {
        by = residual_vjp(w.cross.norm, self.out, cross.sum, std::move(d),
                          [&](const Matrix&, const Matrix& dy) { return cross_attention_vjp(dy); });
        keep(out.cross.out, by.x);
        d = joined(std::move(by), mlp_rows);
        keep(out.resid_cross, d);
    }
    const GradientRows cross_rows = rows;
    by = residual_vjp(w.self.norm, pre, self.sum, std::move(d),
                      [&](const Matrix& x, const Matrix& dy) { return self_attention_vjp(x, dy); });
    keep(out.self.out, by.x);
    d = joined(std::move(by), cross_rows);
    if (parallel) d += mlp_rows.widened(mlp_input_gradient, rows);
    keep(out.resid_pre, d);
    a.changed.resid_pre.zero_replaced(rows.token_of(), d);
    return d;
}

}  // namespace

Matrix layer_vjp(StackBackward& stack, int l, Matrix by_post, GradientRows& rows, LayerGradients* out) {
    LayerGradients scratch;
    LayerBackward layer{stack,
                        l,
                        stack.weights.layers[l],
                        *stack.activations.layers[l],
                        rows,
                        out ? *out : scratch,
                        out != nullptr,
                        stack.config().norm_place == NormPlace::after};
    return layer.run(std::move(by_post));
}

}  // namespace headlight
