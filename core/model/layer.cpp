// Runs one layer, top to bottom like its equations. Pre-norm, post-norm, parallel and encoder–decoder models
// share these lines; only the norms move. Multiplies the rows of all passes by each weight together; attends
// for each pass separately.
#include <algorithm>

#include "base/cast.h"
#include "model/activation.h"
#include "model/batch.h"

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
Matrix feed_forward_rows(const StackRun& p, const LayerWeights& w, ConstMatrixRef x) {
    // Pads rows: at a stride of a multiple of 4 KB they would all map to one set of the first-level cache.
    constexpr Index kApart = 16;
    Matrix padded = spare_matrix(x.rows(), w.mlp_in.out + kApart), gate;
    auto hidden = padded.leftCols(w.mlp_in.out);
    const auto activate = activation_row(p.config().activation).apply;
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
Matrix feed_forward(const StackRun& p, const LayerWeights& w, const Matrix& x) {
    constexpr Index kRows = 256;
    if (x.rows() <= kRows) return feed_forward_rows(p, w, x);
    Matrix out = spare_matrix(x.rows(), w.mlp_out.out);
    for (Index first = 0; first < x.rows(); first += kRows) {
        const Index rows = std::min(kRows, x.rows() - first);
        Matrix part = feed_forward_rows(p, w, x.middleRows(first, rows));
        out.middleRows(first, rows) = part;
        leave_spare(std::move(part));
    }
    return out;
}

Matrix attention_output(const StackRun& run, const AttentionWeights& w, const AttentionActivations& a) {
    Matrix out = Matrix::Zero(a.q.rows(), run.config().d_model);
    if (!a.rule->skipped) {
        Matrix z = spare_matrix(a.q.rows(), w.o.in);
        attend(run.pool, *a.rule, a.q, a.k, a.v, 0, z);
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

/// Norms each head of projected q or k, if the model does so, and rotates it.
void norm_and_rotate(const Batch& b, int l, const Norm& norm, int heads, Matrix& y) {
    if (norm) {
        const Eigen::Map<const Matrix> by_head(y.data(), y.rows() * heads, y.cols() / heads);
        Matrix normal = b.norm(norm, by_head);
        y = Eigen::Map<const Matrix>(normal.data(), y.rows(), y.cols());
        leave_spare(std::move(normal));
    }
    const Rope& rope = b.config().rope_of(b.stack, l);
    for (const PassInBatch& p : b.passes)
        if (const RopeTable& table = p.rope_tables.of(b.config(), rope); table.sine.size())
            apply_rope(rope, table, heads, b.pool, y.middleRows(p.first, p.rows));
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
        attend(b.pool, *a.rule, a.q, a.k, a.v, narrow<int>(p.pass.n_past), z.middleRows(p.first, p.rows),
               see);
    }
    Matrix out = block_output(b.config(), w, z, b.pool);
    leave_spare(std::move(z));
    return out;
}

Matrix attend_self(const Batch& b, const AttentionWeights& w, int l, const Matrix& x) {
    const AttentionRule& rule = *b.passes.front().layer->self.rule;
    Matrix q = spare_matrix(x.rows(), w.q.out), k = spare_matrix(x.rows(), w.k.out),
           v = spare_matrix(x.rows(), w.v.out);
    const LinearProduct products[] = {{w.q, q}, {w.k, k}, {w.v, v}};
    apply_linears(b.pool, x, products);
    norm_and_rotate(b, l, w.q_norm, rule.heads, q);
    norm_and_rotate(b, l, w.k_norm, rule.kv_heads, k);
    check_finite(b, l, "queries", all_finite(q));
    check_finite(b, l, "keys", all_finite(k));
    check_finite(b, l, "values", all_finite(v));
    append_to_passes(b, l, std::move(q), &LayerActivations::self, &AttentionActivations::q);
    append_to_passes(b, l, std::move(k), &LayerActivations::self, &AttentionActivations::k);
    append_to_passes(b, l, std::move(v), &LayerActivations::self, &AttentionActivations::v);
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

Matrix run_mlp(const Batch& b, int l, const Matrix& x) {
    const bool none = std::all_of(b.passes.begin(), b.passes.end(),
                                  [l](const PassInBatch& p) { return p.pass.rules[l].changed.no_mlp; });
    Matrix added = none ? Matrix::Zero(x.rows(), x.cols()) : feed_forward(b, b.weights.layers[l], x);
    b.zero_skipped(l, added, [](const LayerRules& rules) { return rules.changed.no_mlp; });
    b.replace_rows(
        l, added, [](const LayerRules& rules) -> auto& { return rules.changed.mlp_out; });
    return added;
}

/// Adds a block's output to x: x + block(norm(reads)) (pre-norm), or norm(x + block(reads)) (post-norm).
template <class Block>
Matrix add_block(const Batch& b, const Norm& norm, const Matrix& reads, const Matrix& x, const Block& block) {
    const bool after = b.config().norm_place == NormPlace::after;
    Matrix normal = after || !norm ? Matrix() : b.norm(norm, reads);
    Matrix sum = block(normal.size() ? normal : reads);
    leave_spare(std::move(normal));
    sum += x;
    return after ? normalized(b, norm, std::move(sum)) : sum;
}

}  // namespace

Matrix mlp_output(const Model& model, int stack, int layer, ConstMatrixRef x, ThreadPool& pool) {
    const StackRun run{model, model.config.stacks[stack], model.weights.stacks[stack], pool};
    return feed_forward(run, run.weights.layers[layer], x);
}

Matrix run_layer(const Batch& b, int l, Matrix resid) {
    const LayerWeights& w = b.weights.layers[l];
    const auto self_attention = [&](const Matrix& x) { return attend_self(b, w.self, l, x); };
    const auto cross_attention = [&](const Matrix& x) { return attend_cross(b, w.cross, l, x); };
    const auto mlp = [&](const Matrix& x) { return run_mlp(b, l, x); };

    keep_replaced(b, l, resid);
    b.replace_rows(
        l, resid, [](const LayerRules& rules) -> auto& { return rules.changed.resid_pre; });
    Matrix mid = add_block(b, w.self.norm, resid, resid, self_attention);
    if (b.stack.cross) leave_spare(std::exchange(mid, add_block(b, w.cross.norm, mid, mid, cross_attention)));
    const Matrix& mlp_reads = b.config().parallel ? resid : mid;
    Matrix post = add_block(b, w.mlp_norm, mlp_reads, mid, mlp);
    leave_spare(std::move(mid));
    check_finite(b, l, "outputs", all_finite(post));
    append_to_passes(
        b, l, std::move(resid), [](auto& layer) -> auto& { return layer.resid_pre; });
    return post;
}

}  // namespace headlight
