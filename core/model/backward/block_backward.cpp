// Propagates gradients through one attention block: from what it adds to what it reads.
#include "model/backward/layer_steps.h"
#include "model/mixers/attention_gate.h"
#include "model/mixers/latent.h"
#include "model/mixers/recurrence.h"
#include "model/qk_norm.h"

namespace headlight {

/// Propagates a block's output gradient to z, then to q, k and v; its queries are `rows`. Returns the
/// gradient by the scores of its gate, if it has one.
Matrix LayerBackward::block_vjp(const BlockBackward& b, Matrix d, const GradientRows& keys,
                                AttentionGradients& gradients) const {
    const AttentionWeights& weights = b.w;
    const AttentionActivations& attention = b.a;
    const Gate gate = gate_of(s.config(), b.spec, weights);
    Matrix z, by_gate;
    if (weights.post_norm || weights.gate) {
        z.resize(attention.q.rows(), weights.o.in);
        attend(s.pool, *attention.rule, attention.q, attention.k, attention.v, 0, z);
    }
    if (weights.post_norm) {
        Matrix gated = z;
        apply_gate(s.pool, gate, attention, 0, gated);
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
        observer->begin(b.block);
        see = [observer, block = b.block](const GradientTile& tile) { observer->see(block, tile); };
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
Matrix LayerBackward::recurrence_back(const BlockBackward& b, const Matrix& x, const AttentionGradients& g,
                                      const Matrix& by_gate, const GradientRows& queries,
                                      const GradientRows& entering) {
    RecurrenceGradients by = recurrence_vjp(b.spec, b.w, x, g.q, queries, g.k, g.v, entering, s.pool);
    rows = by.rows;
    if (b.w.gate) add_spare(by.x, queries.widened(linear_vjp(s.pool, by_gate, b.w.gate), rows));
    return std::move(by.x);
}

/// Leaves the gradients by keys and values to the layer that made them.
void LayerBackward::lend(const GradientRows& keys, const AttentionGradients& g) const {
    LentGradients& to = s.lent[spec.attention.source];
    to.k.add(keys, g.k);
    to.v.add(keys, g.v);
}

/// Adds what later layers left for the keys and values of this one's attention; `rows` become those of both.
Matrix LayerBackward::with_lent(const BlockBackward& b, const Matrix& x, Matrix by_x) {
    const auto found = s.lent.find(l);
    if (found == s.lent.end() || &b.w != &w.self) return by_x;
    GradientSum sum{rows, std::move(by_x)};
    rows = found->second.k.rows;
    sum.add(rows, keys_vjp(x, std::move(found->second.k.values), found->second.v.values));
    s.lent.erase(found);
    rows = std::move(sum.rows);
    return std::move(sum.values);
}

Matrix LayerBackward::self_attention_vjp(const BlockBackward& b, const Matrix& x, Matrix d) {
    const AttentionRule& rule = *b.a.rule;
    if (rule.skipped) {
        if (kept) b.out = no_gradients(b.a, rows, rows);
        d.setZero();
        return with_lent(b, x, std::move(d));
    }
    rule.given_out.zero_replaced(rows.token_of(), d);
    const GradientRows queries = query_rows(rule, rows), entering = entering_rows(rule, queries);
    d = rows.widened(std::move(d), queries);
    rows = queries;
    AttentionGradients g;
    const Matrix by_gate = block_vjp(b, std::move(d), entering, g);
    if (b.spec.recurrence) {
        Matrix by_x = recurrence_back(b, x, g, by_gate, queries, entering);
        if (kept) b.out = std::move(g);
        return by_x;
    }
    Matrix by_x = queries_vjp(x, g.q, queries);
    if (w.self.gate) add_spare(by_x, linear_vjp(s.pool, by_gate, w.self.gate));
    if (spec.attention.makes_keys()) {
        rows = entering;
        by_x = queries.widened(std::move(by_x), rows);
        add_spare(by_x, keys_vjp(x, g.k, g.v));
        by_x = with_lent(b, x, std::move(by_x));
    } else {
        lend(entering, g);
    }
    if (kept)
        b.out = std::move(g);
    else
        for (Matrix* gradient : {&g.q, &g.k, &g.v, &g.z}) leave_spare(std::move(*gradient));
    return by_x;
}

Matrix LayerBackward::cross_attention_vjp(const BlockBackward& b, Matrix d) {
    const AttentionRule& rule = *b.a.rule;
    if (rule.skipped) {
        if (kept) b.out = no_gradients(b.a, rows, s.source_rows);
        d.setZero();
        return d;
    }
    rule.given_out.zero_replaced(rows.token_of(), d);
    const GradientRows queries = query_rows(rule, rows);
    d = rows.widened(std::move(d), queries);
    rows = queries;
    AttentionGradients g;
    block_vjp(b, std::move(d), s.source_rows, g);
    add_spare(s.by_sources, linear_vjp(s.pool, g.k, b.w.k));
    add_spare(s.by_sources, linear_vjp(s.pool, g.v, b.w.v));
    Matrix by_x = linear_vjp(s.pool, g.q, b.w.q);
    if (kept) b.out = std::move(g);
    return by_x;
}

}  // namespace headlight
