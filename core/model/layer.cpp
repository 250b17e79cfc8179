// Runs one layer, top to bottom like its equations. Pre-norm, post-norm, parallel and encoder–decoder models
// share these lines; only the norms move. Multiplies the rows of all passes by each weight together; attends
// for each pass separately.
#include <algorithm>

#include "base/cast.h"
#include "base/check.h"
#include "model/activation.h"
#include "model/batch.h"
#include "model/convolution.h"
#include "model/experts.h"
#include "model/layer_embedding.h"
#include "model/mixers/attention_gate.h"
#include "model/mixers/latent.h"
#include "model/mixers/mixing.h"
#include "model/mixers/recurrence.h"
#include "model/qk_norm.h"

namespace headlight {

void check_finite(const StackRun& p, int layer, const char* what, bool finite) {
    if (finite) return;
    const std::string stack = p.config().stacks.size() > 1 ? p.stack.name + " " : "",
                      where = layer < 0 ? stack : stack + "layer " + std::to_string(layer) + "'s ";
    throw Failure({p.model.name + ": " + where + what +
                   " are not finite; the weights hold NaN or infinity, or a change is too large: undo the "
                   "change, or use weights that are finite."});
}

namespace {

/// norm(x), for rows that nothing else reads.
Matrix normalized(const StackRun& p, const Norm& norm, Matrix x) {
    Matrix y = p.norm(norm, x);
    leave_spare(std::move(x));
    return y;
}

/// mlp_out[rows, d_model] = W_out · act(W_in x) or W_out · (act(W_gate x) · W_in x); and the post-norm.
Matrix feed_forward_rows(const StackRun& p, const MlpSpec& spec, const LayerWeights& w, ConstMatrixRef x,
                         std::span<const int> off) {
    if (spec.experts) {
        Matrix out = experts_output(p, spec, w, x, off);
        return w.mlp_post_norm ? normalized(p, w.mlp_post_norm, std::move(out)) : out;
    }
    // Pads rows: at a stride of a multiple of 4 KB they would all map to one set of the first-level cache.
    constexpr Index kApart = 16;
    Matrix padded = spare_matrix(x.rows(), w.mlp_in.out + kApart), gate;
    auto hidden = padded.leftCols(w.mlp_in.out);
    const auto activate = [&](Eigen::Ref<Eigen::ArrayXf> row) {
        apply_activation(spec.activation, w.xielu, row);
    };
    std::vector<LinearProduct> products{{w.mlp_in, hidden}};
    if (w.mlp_gate) {
        gate = spare_matrix(x.rows(), w.mlp_gate.out);
        products.push_back({w.mlp_gate, gate});
    }
    apply_linears(p.pool, x, products);
    for_row_blocks(p.pool, hidden.rows(), 4, [&](Index first, Index count) {
        for (Index i = first; i < first + count; ++i) {
            if (!w.mlp_gate) {
                activate(hidden.row(i).transpose().array());
                continue;
            }
            activate(gate.row(i).transpose().array());
            hidden.row(i).array() *= gate.row(i).array();
        }
    });
    Matrix out = project(p.pool, hidden, w.mlp_out);
    leave_spare(std::move(padded));
    leave_spare(std::move(gate));
    return w.mlp_post_norm ? normalized(p, w.mlp_post_norm, std::move(out)) : out;
}

}  // namespace

// Works on a block of rows at a time, because hidden rows are wide.
Matrix feed_forward(const StackRun& p, int l, const Matrix& x, std::span<const int> off) {
    constexpr Index kRows = 256;
    const MlpSpec& spec = p.stack.layers[l].mlp;
    const LayerWeights& w = p.weights.layers[l];
    if (x.rows() <= kRows) return feed_forward_rows(p, spec, w, x, off);
    Matrix out = spare_matrix(x.rows(), p.config().d_model);
    for (Index first = 0; first < x.rows(); first += kRows) {
        const Index rows = std::min(kRows, x.rows() - first);
        Matrix part = feed_forward_rows(p, spec, w, x.middleRows(first, rows), off);
        out.middleRows(first, rows) = part;
        leave_spare(std::move(part));
    }
    return out;
}

Matrix attention_output(const StackRun& run, const AttentionSpec& spec, const AttentionWeights& w,
                        const AttentionActivations& a) {
    Matrix out = Matrix::Zero(a.q.rows(), run.config().d_model);
    if (!a.rule->skipped) {
        Matrix z = spare_matrix(a.q.rows(), w.o.in);
        attend(run.pool, *a.rule, a.q, a.k, a.v, 0, z);
        apply_gate(gate_of(run.config(), spec, w), a, 0, z);
        out = block_output(run.config(), w, z, run.pool);
        leave_spare(std::move(z));
    }
    a.rule->given_out.put(0, out);
    return out;
}

namespace {

/// Appends to each pass its rows of a matrix of all, after its past; of: selects the rows within a layer.
template <class Of>
void append_to_passes(const Batch& b, int l, Matrix all, const Of& of) {
    std::vector<Matrix> parts = b.split_by_pass(std::move(all));
    for (size_t i = 0; i < parts.size(); ++i) {
        const PassInBatch& p = b.passes[i];
        of(*p.layer) = append_rows(p.past(l) ? &of(*p.past(l)) : nullptr, p.pass.n_past, std::move(parts[i]));
    }
}

/// Keeps the previous layer's output where the user's rows are about to replace it.
void keep_replaced(const Batch& b, int l, const Matrix& resid) {
    for (const PassInBatch& p : b.passes) {
        const GivenRows& given = p.pass.rules[l].changed.resid_pre;
        if (given.empty()) continue;
        p.layer->replaced = given.replaced(p.past(l) ? &p.past(l)->replaced : nullptr,
                                           narrow<int>(p.pass.n_past), resid.middleRows(p.first, p.rows));
    }
}

/// Select a layer's attention block, and one of its activations.
using BlockOf = AttentionActivations LayerActivations::*;
using RowsOf = Rows AttentionActivations::*;

void append_to_passes(const Batch& b, int l, Matrix all, BlockOf block, RowsOf rows) {
    append_to_passes(
        b, l, std::move(all), [=](auto& layer) -> auto& { return layer.*block.*rows; });
}

/// Cuts values to ± limit; 0: leaves them.
void clip(float limit, Matrix& y) {
    if (limit > 0) y = y.cwiseMax(-limit).cwiseMin(limit);
}

/// Norms each head of projected q or k, if the model does so, and rotates it.
void norm_and_rotate(const Batch& b, int l, const Norm& norm, int heads, Matrix& y) {
    const AttentionSpec& spec = b.stack.layers[l].attention;
    const auto norm_all = [&] {
        if (norm) leave_spare(std::exchange(y, norm_heads(b.config(), spec, norm, y, b.pool)));
    };
    if (!spec.norm_rotated) norm_all();
    clip(spec.clip, y);
    for (const PassInBatch& p : b.passes)
        if (const RopeTable& table = p.rope_tables.of_layer(l); table.sine.size())
            apply_rope(spec.rope, table, heads, b.pool, y.middleRows(p.first, p.rows));
    if (spec.norm_rotated) norm_all();
}

/// Multiplies queries by the factors of their positions.
void scale_queries(const Batch& b, int l, Matrix& q) {
    const AttentionSpec& spec = b.stack.layers[l].attention;
    if (spec.query_growth == 0) return;
    for (const PassInBatch& p : b.passes) {
        const std::vector<int> positions = p.pass.new_positions();
        for (Index i = 0; i < p.rows; ++i) q.row(p.first + i) *= spec.query_scale(positions[size_t(i)]);
    }
}

/// z = softmax(S) v and the block's output z · W_O + b, for all new rows.
Matrix finish_attention(const Batch& b, const AttentionWeights& w, int block, BlockOf of) {
    Matrix z = spare_matrix(b.rows(), w.o.in);
    for (const PassInBatch& p : b.passes) {
        const AttentionActivations& a = (*p.layer).*of;
        SeeTile see;
        if (PatternObserver* const observer = p.pass.observer) {
            observer->begin(block, narrow<int>(p.pass.n_past));
            see = [observer, block](const PatternTile& tile) { observer->see(block, tile); };
        }
        MatrixRef rows = z.middleRows(p.first, p.rows);
        attend(b.pool, *a.rule, a.q, a.k, a.v, narrow<int>(p.pass.n_past), rows, see);
        apply_gate(gate_of(b.config(), b.config().attention(block), w), a, p.pass.n_past, rows);
    }
    Matrix out = block_output(b.config(), w, z, b.pool);
    leave_spare(std::move(z));
    return out;
}

/// Makes q, k and v of a recurrence. Projects the last rows of each pass's past with its new ones, because
/// the convolution reads them.
QueryKeyValue recurrence_heads_of_passes(const Batch& b, const AttentionWeights& w, int l, const Matrix& x) {
    const AttentionSpec& spec = b.stack.layers[l].attention;
    QueryKeyValue out{spare_matrix(x.rows(), query_columns(spec)), spare_matrix(x.rows(), key_columns(spec)),
                      spare_matrix(x.rows(), Index{spec.heads} * spec.value_width())};
    for (const PassInBatch& p : b.passes) {
        const Index before = std::min<Index>(recurrence_reach(spec), p.pass.n_past);
        Matrix rows(before + p.rows, x.cols());
        if (before) {
            rows.topRows(before) = p.past(l)->resid_pre.middleRows(p.pass.n_past - before, before);
            if (w.norm && !b.stack.layers[l].norms_sum())
                rows.topRows(before) = b.norm(w.norm, rows.topRows(before));
        }
        rows.bottomRows(p.rows) = x.middleRows(p.first, p.rows);
        const QueryKeyValue own = recurrence_heads(spec, w, rows, before, b.pool);
        out.q.middleRows(p.first, p.rows) = own.q;
        out.k.middleRows(p.first, p.rows) = own.k;
        out.v.middleRows(p.first, p.rows) = own.v;
    }
    return out;
}

/// Projects x to q, k and v of all heads, before norms and rotation.
QueryKeyValue project_heads(const Batch& b, const AttentionWeights& w, int l, const Matrix& x) {
    const AttentionSpec& spec = b.stack.layers[l].attention;
    if (spec.latent) return latent_heads(b.config(), spec, w, x, b.pool);
    if (spec.recurrence) return recurrence_heads_of_passes(b, w, l, x);
    QueryKeyValue out{spare_matrix(x.rows(), w.q.out), spare_matrix(x.rows(), w.k.out),
                      spare_matrix(x.rows(), w.v.out)};
    std::vector<LinearProduct> products{{w.q, out.q}};
    if (spec.makes_keys()) products.push_back({w.k, out.k});
    if (spec.projects_values()) products.push_back({w.v, out.v});
    apply_linears(b.pool, x, products);
    if (spec.keys_as_values) out.v = out.k;
    return out;
}

/// Norms and rotates new keys, norms new values, and keeps both.
void keep_keys(const Batch& b, const AttentionWeights& w, int l, Matrix k, Matrix v) {
    const AttentionSpec& spec = b.stack.layers[l].attention;
    norm_and_rotate(b, l, w.k_norm, spec.kv_heads, k);
    if (w.v_norm) v = norm_values(b.config(), spec, w.v_norm, v, b.pool);
    clip(spec.clip, v);
    check_finite(b, l, "keys", all_finite(k));
    check_finite(b, l, "values", all_finite(v));
    append_to_passes(b, l, std::move(k), &LayerActivations::self, &AttentionActivations::k);
    append_to_passes(b, l, std::move(v), &LayerActivations::self, &AttentionActivations::v);
}

/// Reads the keys and values of an earlier layer of the same pass.
void share_keys(const Batch& b, int l) {
    for (const PassInBatch& p : b.passes) {
        const AttentionActivations& source = p.pass.out->layers[b.stack.layers[l].attention.source]->self;
        p.layer->self.k = source.k;
        p.layer->self.v = source.v;
    }
}

/// Computes the scores of the gate of z.
void project_gate(const Batch& b, const AttentionWeights& w, int l, const Matrix& x) {
    Matrix gate = project(b.pool, x, w.gate);
    check_finite(b, l, "gates", all_finite(gate));
    append_to_passes(b, l, std::move(gate), &LayerActivations::self, &AttentionActivations::gate);
}

Matrix attend_self(const Batch& b, const AttentionWeights& w, int l, const Matrix& x) {
    const AttentionRule& rule = *b.passes.front().layer->self.rule;
    auto [q, k, v] = project_heads(b, w, l, x);
    if (w.gate) project_gate(b, w, l, x);
    norm_and_rotate(b, l, w.q_norm, rule.heads, q);
    scale_queries(b, l, q);
    check_finite(b, l, "queries", all_finite(q));
    append_to_passes(b, l, std::move(q), &LayerActivations::self, &AttentionActivations::q);
    if (b.stack.layers[l].attention.makes_keys())
        keep_keys(b, w, l, std::move(k), std::move(v));
    else
        share_keys(b, l);
    Matrix added = finish_attention(b, w, b.blocks_of(l).front(), &LayerActivations::self);
    b.zero_skipped(l, added, [](const LayerRules& rules) { return rules.self->skipped; });
    b.replace_rows(
        l, added, [](const LayerRules& rules) -> auto& { return rules.self->given_out; });
    return added;
}

/// Projects new sources to keys and values, or shares those of an earlier pass.
void project_sources(const Batch& b, const AttentionWeights& w, int l) {
    const Matrix k = project(b.pool, b.sources, w.k), v = project(b.pool, b.sources, w.v);
    check_finite(b, l, "keys", all_finite(k));
    check_finite(b, l, "values", all_finite(v));
    Index first = 0;
    for (const PassInBatch& p : b.passes) {
        AttentionActivations& a = p.layer->cross;
        const Index rows = p.pass.source.rows();
        const AttentionActivations* same = p.pass.source_past ? &p.pass.past->layers[l]->cross : nullptr;
        a.k = same ? same->k : Rows(k.middleRows(first, rows));
        a.v = same ? same->v : Rows(v.middleRows(first, rows));
        first += rows;
    }
}

Matrix attend_cross(const Batch& b, const AttentionWeights& w, int l, const Matrix& x) {
    Matrix q = project(b.pool, x, w.q);
    check_finite(b, l, "queries", all_finite(q));
    append_to_passes(b, l, std::move(q), &LayerActivations::cross, &AttentionActivations::q);
    project_sources(b, w, l);
    Matrix added = finish_attention(b, w, b.blocks_of(l).back(), &LayerActivations::cross);
    b.zero_skipped(l, added, [](const LayerRules& rules) { return rules.cross->skipped; });
    b.replace_rows(
        l, added, [](const LayerRules& rules) -> auto& { return rules.cross->given_out; });
    return added;
}

/// Runs the MLP of all passes together, or of each alone where different experts are off.
Matrix feed_forward_of_passes(const Batch& b, int l, const Matrix& x) {
    const auto off = [l](const PassInBatch& p) -> auto& { return p.pass.rules[l].changed.experts_off; };
    const bool alike = std::all_of(b.passes.begin(), b.passes.end(),
                                   [&](const PassInBatch& p) { return off(p) == off(b.passes.front()); });
    if (alike) return feed_forward(b, l, x, off(b.passes.front()));
    Matrix out = spare_matrix(x.rows(), x.cols());
    for (const PassInBatch& p : b.passes)
        out.middleRows(p.first, p.rows) = feed_forward(b, l, x.middleRows(p.first, p.rows), off(p));
    return out;
}

Matrix run_mlp(const Batch& b, int l, const Matrix& x) {
    const bool none = std::all_of(b.passes.begin(), b.passes.end(),
                                  [l](const PassInBatch& p) { return p.pass.rules[l].changed.no_mlp; });
    Matrix added = none ? Matrix::Zero(x.rows(), x.cols()) : feed_forward_of_passes(b, l, x);
    b.zero_skipped(l, added, [](const LayerRules& rules) { return rules.changed.no_mlp; });
    b.replace_rows(
        l, added, [](const LayerRules& rules) -> auto& { return rules.changed.mlp_out; });
    return added;
}

/// Adds a block's output to x: x + block(norm(reads)) (pre-norm), or norm(x + block(reads)) (post-norm).
template <class Block>
Matrix add_block(const Batch& b, bool after, const Norm& norm, const Matrix& reads, const Matrix& x,
                 const Block& block) {
    Matrix normal = after || !norm ? Matrix() : b.norm(norm, reads);
    Matrix sum = block(normal.size() ? normal : reads);
    leave_spare(std::move(normal));
    sum += x;
    return after ? normalized(b, norm, std::move(sum)) : sum;
}

}  // namespace

Matrix mlp_output(const Model& model, int stack, int layer, const LayerChanges& changed, ConstMatrixRef x,
                  ThreadPool& pool) {
    if (changed.no_mlp) return Matrix::Zero(x.rows(), x.cols());
    const StackRun run{model, model.config.stacks[stack], model.weights.stacks[stack], pool};
    return feed_forward(run, layer, x, changed.experts_off);
}

namespace {

/// [rows, width]: a layer's own vectors of the new tokens of all passes.
Matrix new_layer_embeddings(const Batch& b, int l) {
    Matrix out(b.rows(), b.stack.layers[l].embedding->width);
    for (const PassInBatch& p : b.passes)
        out.middleRows(p.first, p.rows) =
            layer_embedding(b, l, *p.pass.out).middleRows(p.pass.n_past, p.rows);
    return out;
}

}  // namespace

Matrix run_layer(const Batch& b, int l, Matrix resid) {
    const LayerSpec& spec = b.stack.layers[l];
    const LayerWeights& w = b.weights.layers[l];
    const bool after = spec.norms_sum();
    const auto self_attention = [&](const Matrix& x) { return attend_self(b, w.self, l, x); };
    const auto cross_attention = [&](const Matrix& x) { return attend_cross(b, w.cross, l, x); };
    const auto mlp = [&](const Matrix& x) { return run_mlp(b, l, x); };

    keep_replaced(b, l, resid);
    b.replace_rows(
        l, resid, [](const LayerRules& rules) -> auto& { return rules.changed.resid_pre; });
    Matrix mid = add_block(b, after, w.self.norm, resid, resid, self_attention);
    if (spec.cross)
        leave_spare(std::exchange(mid, add_block(b, after, w.cross.norm, mid, mid, cross_attention)));
    const Matrix& mlp_reads = spec.parallel ? resid : mid;
    Matrix post = add_block(b, after, w.mlp_norm, mlp_reads, mid, mlp);
    leave_spare(std::move(mid));
    for (const PassInBatch& p : b.passes)
        if (spec.convolution) {
            HEADLIGHT_CHECK(p.pass.n_past == 0);  // reuse.cpp reuses no rows of such a stack
            auto own = post.middleRows(p.first, p.rows);
            own = add_convolution(b, l, resid.middleRows(p.first, p.rows), own);
        }
    if (spec.embedding) post += layer_embedding_output(b, l, post, new_layer_embeddings(b, l));
    if (w.output_scale) post *= *w.output_scale;
    check_finite(b, l, "outputs", all_finite(post));
    append_to_passes(
        b, l, std::move(resid), [](auto& layer) -> auto& { return layer.resid_pre; });
    return post;
}

}  // namespace headlight
