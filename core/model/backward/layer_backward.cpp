// Propagates gradients down one layer: the MLP, cross-attention, self-attention. Recomputes what the forward
// pass did not keep, once for all outputs.
#include "model/backward/layer_backward.h"

#include "base/check.h"
#include "base/spare.h"
#include "model/backward/vector_jacobian.h"
#include "model/convolution.h"
#include "model/layer_embedding.h"
#include "model/mixers/attention_gate.h"
#include "model/mixers/latent.h"
#include "model/mixers/recurrence.h"
#include "model/qk_norm.h"

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
    const LayerSpec& spec;
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
    void leave_embedding(const Matrix& mlp_sum, Matrix& d) const;
    ConvolutionGradients leave_convolution(const Matrix& pre, const Matrix& mlp_sum, Matrix& d) const;
    Matrix with_convolution(Matrix d, ConvolutionGradients through);
    void lend(const GradientRows& keys, const AttentionGradients& g) const;
    Matrix with_lent(const Matrix& x, Matrix by_x);
    Matrix block_vjp(int block, const AttentionWeights& weights, const AttentionActivations& attention,
                     Matrix d, const GradientRows& keys, AttentionGradients& gradients) const;
    Matrix heads_vjp(const Matrix& x, Matrix d, const GradientRows& of, const Linear& weights,
                     const Norm& norm, int heads) const;
    void undo_rotation(const GradientRows& of, int heads, Matrix& d) const;
    void rotate(int heads, Matrix& y) const;
    Matrix scaled_queries(const GradientRows& of, Matrix d) const;
    Matrix queries_vjp(const Matrix& x, Matrix d, const GradientRows& of) const;
    Matrix keys_vjp(const Matrix& x, Matrix by_k, const Matrix& by_v) const;
    Matrix recurrence_back(const Matrix& x, const AttentionGradients& g, const Matrix& by_gate,
                           const GradientRows& queries, const GradientRows& entering);
    void undo_clip(const Matrix& before, const GradientRows& of, Matrix& d) const;
    Matrix norm_vjp_of_rows(const Norm& norm, const Matrix& x, const Matrix& d) const {
        return norm_vjp(s.config(), norm, x, d, rows.token_of(), s.pool);
    }
    /// Copies a gradient to `to`, if gradients are kept.
    void keep(Matrix& to, const Matrix& gradient) const {
        if (kept) to = gradient;
    }
};

/// Propagates a block's output gradient to z, then to q, k and v; its queries are `rows`. Returns the
/// gradient by the scores of its gate, if it has one.
Matrix LayerBackward::block_vjp(int block, const AttentionWeights& weights,
                                const AttentionActivations& attention, Matrix d, const GradientRows& keys,
                                AttentionGradients& gradients) const {
    const Gate gate = gate_of(s.config(), spec.attention, weights);
    Matrix z, by_gate;
    if (weights.post_norm || weights.gate) {
        z.resize(attention.q.rows(), weights.o.in);
        attend(s.pool, *attention.rule, attention.q, attention.k, attention.v, 0, z);
    }
    if (weights.post_norm) {
        Matrix gated = z;
        apply_gate(gate, attention, 0, gated);
        d = norm_vjp_of_rows(weights.post_norm, project_out(weights, gated, s.pool), d);
    }
    gradients.z = linear_vjp(s.pool, d, weights.o);
    if (weights.gate) by_gate = gate_vjp(gate, attention, z, rows.token_of(), gradients.z);
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
    return by_gate;
}

/// Undoes the rotation: from the gradient by rotated q or k to the one before it.
void LayerBackward::undo_rotation(const GradientRows& of, int heads, Matrix& d) const {
    const RopeTable& table = s.inverse_rope.of_layer(l);
    if (!table.sine.size()) return;
    RopeTable each{Matrix(of.rows(), table.sine.cols()), Matrix(of.rows(), table.sine.cols())};
    for (Index i = 0; i < of.rows(); ++i) {
        each.cosine.row(i) = table.cosine.row(of.token_of()[i]);
        each.sine.row(i) = table.sine.row(of.token_of()[i]);
    }
    apply_rope(spec.attention.rope, each, heads, s.pool, d);
}

/// Rotates q or k of all tokens.
void LayerBackward::rotate(int heads, Matrix& y) const {
    const RopeTable& table = s.inverse_rope.of_layer(l);
    if (table.sine.size()) apply_rope(spec.attention.rope, {table.cosine, -table.sine}, heads, s.pool, y);
}

/// Multiplies gradients by the factors of their queries' positions.
Matrix LayerBackward::scaled_queries(const GradientRows& of, Matrix d) const {
    for (Index i = 0; spec.attention.query_growth != 0 && i < d.rows(); ++i)
        d.row(i) *= spec.attention.query_scale(a.self.rule->positions.of(of.token_of()[i]));
    return d;
}

/// Leaves 0 where the forward pass cut a value; before: values of all tokens before that.
void LayerBackward::undo_clip(const Matrix& before, const GradientRows& of, Matrix& d) const {
    for (Index i = 0; i < d.rows(); ++i)
        d.row(i).array() *= (before.row(of.token_of()[i]).array().abs() <= spec.attention.clip).cast<float>();
}

/// Propagates from q or k to x: back through the rotation, the norm of each head and the projection.
Matrix LayerBackward::heads_vjp(const Matrix& x, Matrix d, const GradientRows& of, const Linear& weights,
                                const Norm& norm, int heads) const {
    const bool norm_rotated = spec.attention.norm_rotated, clips = spec.attention.clip > 0;
    if (!norm_rotated) undo_rotation(of, heads, d);
    Matrix before = norm || clips ? project(s.pool, x, weights) : Matrix();
    if (clips) undo_clip(norm ? norm_heads(s.config(), spec.attention, norm, before, s.pool) : before, of, d);
    if (norm) {
        if (norm_rotated) rotate(heads, before);
        d = norm_heads_vjp(s.config(), spec.attention, norm, before, d, of.token_of(), s.pool);
    }
    if (norm_rotated) undo_rotation(of, heads, d);
    return linear_vjp(s.pool, d, weights);
}

void add_spare(Matrix& to, Matrix part) {
    to += part;
    leave_spare(std::move(part));
}

/// Propagates from q of self-attention to x.
Matrix LayerBackward::queries_vjp(const Matrix& x, Matrix d, const GradientRows& of) const {
    const int heads = a.self.rule->heads;
    d = scaled_queries(of, std::move(d));
    if (!spec.attention.latent) return heads_vjp(x, std::move(d), of, w.self.q, w.self.q_norm, heads);
    undo_rotation(of, heads, d);
    return latent_queries_vjp(s.config(), w.self, x, d, of.token_of(), s.pool);
}

/// Propagates from k and v of self-attention to x; their rows are `rows`.
Matrix LayerBackward::keys_vjp(const Matrix& x, Matrix by_k, const Matrix& by_v) const {
    const int kv_heads = a.self.rule->kv_heads;
    if (spec.attention.latent) {
        undo_rotation(rows, kv_heads, by_k);
        return latent_keys_vjp(s.config(), spec.attention, w.self, x, by_k, by_v, rows.token_of(), s.pool);
    }
    Matrix out = heads_vjp(x, std::move(by_k), rows, w.self.k, w.self.k_norm, kv_heads), own = by_v;
    if (spec.attention.clip > 0) undo_clip(project(s.pool, x, w.self.v), rows, own);
    if (w.self.v_norm)
        own = norm_values_vjp(s.config(), spec.attention, w.self.v_norm, project(s.pool, x, w.self.v), own,
                              rows.token_of(), s.pool);
    add_spare(out, linear_vjp(s.pool, own, w.self.v));
    return out;
}

/// Propagates from q, k, v and the gate's scores of a recurrence to x; `rows` become those that it reaches.
Matrix LayerBackward::recurrence_back(const Matrix& x, const AttentionGradients& g, const Matrix& by_gate,
                                      const GradientRows& queries, const GradientRows& entering) {
    RecurrenceGradients by =
        recurrence_vjp(spec.attention, w.self, x, g.q, queries, g.k, g.v, entering, s.pool);
    rows = by.rows;
    if (w.self.gate) add_spare(by.x, queries.widened(linear_vjp(s.pool, by_gate, w.self.gate), rows));
    return std::move(by.x);
}

/// Leaves the gradients by keys and values to the layer that made them.
void LayerBackward::lend(const GradientRows& keys, const AttentionGradients& g) const {
    LentGradients& to = s.lent[spec.attention.source];
    to.k.add(keys, g.k);
    to.v.add(keys, g.v);
}

/// Adds what later layers left for this one's keys and values; `rows` become those of both.
Matrix LayerBackward::with_lent(const Matrix& x, Matrix by_x) {
    const auto found = s.lent.find(l);
    if (found == s.lent.end()) return by_x;
    GradientSum sum{rows, std::move(by_x)};
    rows = found->second.k.rows;
    sum.add(rows, keys_vjp(x, std::move(found->second.k.values), found->second.v.values));
    s.lent.erase(found);
    rows = std::move(sum.rows);
    return std::move(sum.values);
}

Matrix LayerBackward::self_attention_vjp(const Matrix& x, Matrix d) {
    const AttentionRule& rule = *a.self.rule;
    if (rule.skipped) {
        if (kept) out.self = no_gradients(a.self, rows, rows);
        d.setZero();
        return with_lent(x, std::move(d));
    }
    rule.given_out.zero_replaced(rows.token_of(), d);
    const GradientRows queries = query_rows(rule, rows), entering = entering_rows(rule, queries);
    d = rows.widened(std::move(d), queries);
    rows = queries;
    AttentionGradients g;
    const Matrix by_gate = block_vjp(s.blocks_of(l).front(), w.self, a.self, std::move(d), entering, g);
    if (spec.attention.recurrence) {
        Matrix out = recurrence_back(x, g, by_gate, queries, entering);
        if (kept) this->out.self = std::move(g);
        return out;
    }
    Matrix by_x = queries_vjp(x, g.q, queries);
    if (w.self.gate) add_spare(by_x, linear_vjp(s.pool, by_gate, w.self.gate));
    if (spec.attention.makes_keys()) {
        rows = entering;
        by_x = queries.widened(std::move(by_x), rows);
        add_spare(by_x, keys_vjp(x, g.k, g.v));
        by_x = with_lent(x, std::move(by_x));
    } else {
        lend(entering, g);
    }
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
    Matrix own = d;
    a.changed.mlp_out.zero_replaced(rows.token_of(), own);
    return mlp_vjp(s, l, x, own, rows.token_of(), a.changed.experts_off);
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
    if (after || !spec.parallel || spec.embedding)
        out.self =
            rerun(w.self.norm, pre, [&] { return attention_output(s, spec.attention, w.self, a.self); });
    if (spec.cross)
        out.cross = rerun(w.cross.norm, out.self.out,
                          [&] { return attention_output(s, *spec.cross, w.cross, a.cross); });
    if (!after && !spec.embedding) return out;
    const Matrix& mid = spec.cross ? out.cross.out : out.self.out;
    const Matrix reads = spec.parallel ? pre : mid;
    Matrix added = Matrix::Zero(mid.rows(), mid.cols());
    if (!a.changed.no_mlp)
        added = feed_forward(s, l, after || !w.mlp_norm ? reads : s.norm(w.mlp_norm, reads),
                             a.changed.experts_off);
    a.changed.mlp_out.put(0, added);
    out.mlp_sum = mid + added;
    return out;
}

/// Propagates through the layer's scale and its own vectors of tokens, if it has them: d becomes the gradient
/// by what the MLP leaves.
void LayerBackward::leave_embedding(const Matrix& mlp_sum, Matrix& d) const {
    if (w.output_scale) d *= *w.output_scale;
    if (!spec.embedding) return;
    s.by_embeddings.add(rows, layer_embedding_vjp(s, l, s.activations, mlp_sum, d, rows));
}

/// Propagates through the layer's convolution, if it has one: d becomes the gradient by what the MLP leaves.
ConvolutionGradients LayerBackward::leave_convolution(const Matrix& pre, const Matrix& mlp_sum,
                                                      Matrix& d) const {
    if (!spec.convolution) return {};
    HEADLIGHT_CHECK(after);
    ConvolutionGradients out = convolution_vjp(s, l, pre, s.norm(w.mlp_norm, mlp_sum), d, rows);
    d = std::move(out.y);
    return out;
}

/// Adds the gradient that came through the convolution.
Matrix LayerBackward::with_convolution(Matrix d, ConvolutionGradients through) {
    if (!spec.convolution) return d;
    GradientSum sum{rows, std::move(d)};
    sum.add(through.x_rows, std::move(through.x));
    rows = std::move(sum.rows);
    return std::move(sum.values);
}

Matrix LayerBackward::run(Matrix d) {
    const Matrix pre = a.resid_pre.all();
    const bool parallel = spec.parallel;
    const Between between = rerun_blocks(pre);
    const auto& [self, cross, mlp_sum] = between;
    const Matrix& mlp_reads = parallel ? pre : spec.cross ? cross.out : self.out;
    /// Adds the gradients of the two paths, around and through a block, at the rows that entered it.
    const auto joined = [this](ResidualGradients both, const GradientRows& left) {
        both.x = left.widened(std::move(both.x), rows);
        add_spare(both.x, std::move(both.reads));
        return std::move(both.x);
    };
    leave_embedding(mlp_sum, d);
    ConvolutionGradients convolution = leave_convolution(pre, mlp_sum, d);
    ResidualGradients by = residual_vjp(w.mlp_norm, mlp_reads, mlp_sum, std::move(d),
                                        [&](const Matrix& x, const Matrix& dy) { return mlp_vjp_of(x, dy); });
    keep(out.mlp_out, by.x);
    const Matrix mlp_input_gradient =
        parallel ? std::move(by.reads) : Matrix();  // bypasses the blocks between
    const GradientRows mlp_rows = rows;
    d = parallel ? std::move(by.x) : joined(std::move(by), mlp_rows);
    keep(out.resid_mid, d);
    if (spec.cross) {
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
    d = with_convolution(std::move(d), std::move(convolution));
    keep(out.resid_pre, d);
    a.changed.resid_pre.zero_replaced(rows.token_of(), d);
    return d;
}

}  // namespace

Matrix layer_vjp(StackBackward& stack, int l, Matrix by_post, GradientRows& rows, LayerGradients* out) {
    LayerGradients scratch;
    LayerBackward layer{stack,
                        l,
                        stack.stack.layers[l],
                        stack.weights.layers[l],
                        *stack.activations.layers[l],
                        rows,
                        out ? *out : scratch,
                        out != nullptr,
                        stack.stack.layers[l].norms_sum()};
    return layer.run(std::move(by_post));
}

}  // namespace headlight
