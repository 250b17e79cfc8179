// Runs one layer, top to bottom like its equations. Pre-norm, post-norm, parallel and encoder–decoder models
// share these lines; only the norms move. Multiplies the rows of all passes by each weight together; attends
// for each pass separately.
#include <algorithm>

#include "base/cast.h"
#include "base/check.h"
#include "model/batch.h"
#include "model/convolution.h"
#include "model/laurel.h"
#include "model/layer_embedding.h"
#include "model/mixers/attention_gate.h"
#include "model/mixers/latent.h"
#include "model/mixers/mixing.h"
#include "model/mixers/recurrence.h"
#include "model/qk_norm.h"
#include "model/streams.h"

namespace headlight {

void check_finite(const StackRun& p, int layer, const char* what, bool finite) {
    if (finite) return;
    const std::string stack = p.config().stacks.size() > 1 ? p.stack.name + " " : "",
                      where = layer < 0 ? stack : stack + "layer " + std::to_string(layer) + "'s ";
    throw Failure({p.model.name + ": " + where + what +
                   " are not finite; the weights hold NaN or infinity, or a change is too large: undo the "
                   "change, or use weights that are finite."});
}

Matrix attention_output(const StackRun& run, const AttentionSpec& spec, const AttentionWeights& w,
                        const AttentionActivations& a) {
    Matrix out = Matrix::Zero(a.q.rows(), run.config().d_model);
    if (!a.rule->skipped) {
        Matrix z = spare_matrix(a.q.rows(), w.o.in);
        attend(run.pool, *a.rule, a.q, a.k, a.v, 0, z);
        apply_gate(run.pool, gate_of(run.config(), spec, w), a, 0, z);
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

/// Names one attention block of a layer, and where passes keep its activations and rules.
struct BlockRun {
    int l, block;
    const AttentionSpec& spec;
    const AttentionWeights& w;
    AttentionActivations LayerActivations::*of;
    std::shared_ptr<const AttentionRule> LayerRules::*rule;

    static BlockRun first(const Batch& b, int l) {
        return {l,
                b.blocks_of(l).front(),
                b.stack.layers[l].attention,
                b.weights.layers[l].self,
                &LayerActivations::self,
                &LayerRules::self};
    }
    static BlockRun second(const Batch& b, int l) {
        return {l,
                b.blocks_of(l).back(),
                *b.stack.layers[l].second,
                b.weights.layers[l].second,
                &LayerActivations::second,
                &LayerRules::second};
    }
};

void append_to_passes(const Batch& b, const BlockRun& a, Matrix all, Rows AttentionActivations::*rows) {
    append_to_passes(
        b, a.l, std::move(all), [&](auto& layer) -> auto& { return layer.*a.of.*rows; });
}

/// Cuts values to ± limit; 0: leaves them.
void clip(float limit, Matrix& y) {
    if (limit > 0) y = y.cwiseMax(-limit).cwiseMin(limit);
}

/// Norms each head of projected q or k, if the model does so, and rotates it.
void norm_and_rotate(const Batch& b, const BlockRun& a, const Norm& norm, int heads, Matrix& y) {
    const AttentionSpec& spec = a.spec;
    const auto norm_all = [&] {
        if (norm) leave_spare(std::exchange(y, norm_heads(b.config(), spec, norm, y, b.pool)));
    };
    if (!spec.norm_rotated) norm_all();
    clip(spec.clip, y);
    for (const PassInBatch& p : b.passes)
        if (const RopeTable& table = p.rope_tables.of_layer(a.l); spec.rope.dims && table.sine.size())
            apply_rope(spec.rope, table, heads, b.pool, y.middleRows(p.first, p.rows));
    if (spec.norm_rotated) norm_all();
}

/// Multiplies queries by the factors of their positions.
void scale_queries(const Batch& b, const AttentionSpec& spec, Matrix& q) {
    if (spec.query_growth == 0) return;
    for (const PassInBatch& p : b.passes) {
        const std::vector<int> positions = p.pass.new_positions();
        for (Index i = 0; i < p.rows; ++i) q.row(p.first + i) *= spec.query_scale(positions[size_t(i)]);
    }
}

/// z = softmax(S) v and the block's output z · W_O + b, for all new rows, as the user changes it.
Matrix finish_attention(const Batch& b, const BlockRun& a) {
    Matrix z = spare_matrix(b.rows(), a.w.o.in);
    for (const PassInBatch& p : b.passes) {
        const AttentionActivations& own = (*p.layer).*a.of;
        SeeTile see;
        if (PatternObserver* const observer = p.pass.observer) {
            observer->begin(a.block, narrow<int>(p.pass.n_past));
            see = [observer, block = a.block](const PatternTile& tile) { observer->see(block, tile); };
        }
        MatrixRef rows = z.middleRows(p.first, p.rows);
        attend(b.pool, *own.rule, own.q, own.k, own.v, narrow<int>(p.pass.n_past), rows, see);
        apply_gate(b.pool, gate_of(b.config(), a.spec, a.w), own, p.pass.n_past, rows);
    }
    Matrix out = block_output(b.config(), a.w, z, b.pool);
    leave_spare(std::move(z));
    b.zero_skipped(a.l, out, [&](const LayerRules& rules) { return (rules.*a.rule)->skipped; });
    b.replace_rows(
        a.l, out, [&](const LayerRules& rules) -> auto& { return (rules.*a.rule)->given_out; });
    return out;
}

/// Makes q, k and v of a recurrence. Projects the last rows of each pass's past with its new ones, because
/// the convolution reads them.
QueryKeyValue recurrence_heads_of_passes(const Batch& b, const BlockRun& a, const Matrix& x) {
    const AttentionSpec& spec = a.spec;
    QueryKeyValue out{spare_matrix(x.rows(), query_columns(spec)), spare_matrix(x.rows(), key_columns(spec)),
                      spare_matrix(x.rows(), Index{spec.heads} * spec.value_width())};
    for (const PassInBatch& p : b.passes) {
        const Index before = std::min<Index>(recurrence_reach(spec), p.pass.n_past);
        Matrix rows(before + p.rows, x.cols());
        if (before) {
            rows.topRows(before) = p.past(a.l)->resid_pre.middleRows(p.pass.n_past - before, before);
            if (a.w.norm && !b.stack.layers[a.l].norms_sum())
                rows.topRows(before) = b.norm(a.w.norm, rows.topRows(before));
        }
        rows.bottomRows(p.rows) = x.middleRows(p.first, p.rows);
        const QueryKeyValue own = recurrence_heads(spec, a.w, rows, before, b.pool);
        out.q.middleRows(p.first, p.rows) = own.q;
        out.k.middleRows(p.first, p.rows) = own.k;
        out.v.middleRows(p.first, p.rows) = own.v;
    }
    return out;
}

/// norm(x), for rows that nothing else reads.
Matrix normalized(const StackRun& p, const Norm& norm, Matrix x) {
    Matrix y = p.norm(norm, x);
    leave_spare(std::move(x));
    return y;
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

/// Projects x to q, k and v of all heads, before norms and rotation.
QueryKeyValue project_heads(const Batch& b, const BlockRun& a, const Matrix& x) {
    const AttentionSpec& spec = a.spec;
    const AttentionWeights& w = a.w;
    if (spec.latent) return latent_heads(b.config(), spec, w, x, b.pool);
    if (spec.recurrence) return recurrence_heads_of_passes(b, a, x);
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
void keep_keys(const Batch& b, const BlockRun& a, Matrix k, Matrix v) {
    norm_and_rotate(b, a, a.w.k_norm, a.spec.kv_heads, k);
    if (a.w.v_norm) v = norm_values(b.config(), a.spec, a.w.v_norm, v, b.pool);
    clip(a.spec.clip, v);
    check_finite(b, a.l, "keys", all_finite(k));
    check_finite(b, a.l, "values", all_finite(v));
    append_to_passes(b, a, std::move(k), &AttentionActivations::k);
    append_to_passes(b, a, std::move(v), &AttentionActivations::v);
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
void project_gate(const Batch& b, const BlockRun& a, const Matrix& x) {
    Matrix gate = project(b.pool, x, a.w.gate);
    check_finite(b, a.l, "gates", all_finite(gate));
    append_to_passes(b, a, std::move(gate), &AttentionActivations::gate);
}

/// Mixes rows of the block's own stack.
Matrix attend_self(const Batch& b, const BlockRun& a, const Matrix& x) {
    auto [q, k, v] = project_heads(b, a, x);
    if (a.w.gate) project_gate(b, a, x);
    norm_and_rotate(b, a, a.w.q_norm, a.spec.heads, q);
    scale_queries(b, a.spec, q);
    check_finite(b, a.l, "queries", all_finite(q));
    append_to_passes(b, a, std::move(q), &AttentionActivations::q);
    if (a.spec.makes_keys())
        keep_keys(b, a, std::move(k), std::move(v));
    else
        share_keys(b, a.l);
    return finish_attention(b, a);
}

/// Projects new sources to keys and values, or shares those of an earlier pass.
void project_sources(const Batch& b, const AttentionWeights& w, int l) {
    const Matrix k = project(b.pool, b.sources, w.k), v = project(b.pool, b.sources, w.v);
    check_finite(b, l, "keys", all_finite(k));
    check_finite(b, l, "values", all_finite(v));
    Index first = 0;
    for (const PassInBatch& p : b.passes) {
        AttentionActivations& a = p.layer->second;
        const Index rows = p.pass.source.rows();
        const AttentionActivations* same = p.pass.source_past ? &p.pass.past->layers[l]->second : nullptr;
        a.k = same ? same->k : Rows(k.middleRows(first, rows));
        a.v = same ? same->v : Rows(v.middleRows(first, rows));
        first += rows;
    }
}

Matrix attend_cross(const Batch& b, const BlockRun& a, const Matrix& x) {
    Matrix q = project(b.pool, x, a.w.q);
    check_finite(b, a.l, "queries", all_finite(q));
    append_to_passes(b, a, std::move(q), &AttentionActivations::q);
    project_sources(b, a.w, a.l);
    return finish_attention(b, a);
}

/// Runs a layer's second block and adds its output to mid, what attention left of resid.
Matrix add_second(const Batch& b, int l, const Matrix& resid, Matrix mid) {
    const BlockRun a = BlockRun::second(b, l);
    const bool cross = b.stack.cross();
    const auto block = [&](const Matrix& x) { return cross ? attend_cross(b, a, x) : attend_self(b, a, x); };
    const Matrix& reads = cross ? mid : resid;
    leave_spare(std::exchange(mid, add_block(b, b.stack.layers[l].norms_sum(), a.w.norm, reads, mid, block)));
    return mid;
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

/// Takes the stream as it enters a layer: keeps it as computed where the user's rows replace it.
void take_input(const Batch& b, int l, Matrix& resid) {
    keep_replaced(b, l, resid);
    b.replace_rows(
        l, resid, [](const LayerRules& rules) -> auto& { return rules.changed.resid_pre; });
}

/// Runs attention, the second block and the MLP on the stream that they read.
Matrix run_blocks(const Batch& b, int l, const Matrix& resid) {
    const LayerSpec& spec = b.stack.layers[l];
    const LayerWeights& w = b.weights.layers[l];
    const bool after = spec.norms_sum();
    const auto self_attention = [&](const Matrix& x) { return attend_self(b, BlockRun::first(b, l), x); };
    const auto mlp = [&](const Matrix& x) { return run_mlp(b, l, x); };

    Matrix mid = add_block(b, after, w.self.norm, resid, resid, self_attention);
    if (spec.laurel_rank) mid = with_laurel(b, l, resid, std::move(mid));
    if (spec.second) mid = add_second(b, l, resid, std::move(mid));
    const Matrix& mlp_reads = spec.parallel ? resid : mid;
    Matrix post = add_block(b, after, w.mlp_norm, mlp_reads, mid, mlp);
    leave_spare(std::move(mid));
    for (const PassInBatch& p : b.passes)
        if (spec.convolution) {
            HEADLIGHT_CHECK(p.pass.n_past == 0);  // reuse.cpp reuses no rows of such a stack
            auto own = post.middleRows(p.first, p.rows);
            own = add_convolution(b, l, resid.middleRows(p.first, p.rows), own);
        }
    return post;
}

void keep_input(const Batch& b, int l, Matrix resid) {
    append_to_passes(
        b, l, std::move(resid), [](auto& layer) -> auto& { return layer.resid_pre; });
}

/// Runs a layer of several streams: predicts them, computes with the active one, corrects all by the result.
Matrix run_streams(const Batch& b, int l, Matrix streams) {
    Matrix out = predict_streams(b, l, streams);
    Matrix resid = active_stream(b, out);
    take_input(b, l, resid);
    active_stream(b, out) = resid;
    const Matrix left = run_blocks(b, l, resid);
    correct_streams(b, l, left, out);
    const Matrix reads = read_by_embedding(b, l, out);
    add_beside(b, layer_embedding_output(b, l, reads, new_layer_embeddings(b, l)), out);
    check_finite(b, l, "outputs", all_finite(out));
    append_to_passes(
        b, l, std::move(streams), [](auto& layer) -> auto& { return layer.streams; });
    keep_input(b, l, std::move(resid));
    return out;
}

}  // namespace

Matrix run_layer(const Batch& b, int l, Matrix resid) {
    if (b.stack.streams) return run_streams(b, l, std::move(resid));
    const LayerWeights& w = b.weights.layers[l];
    take_input(b, l, resid);
    Matrix post = run_blocks(b, l, resid);
    if (b.stack.layers[l].embedding) post += layer_embedding_output(b, l, post, new_layer_embeddings(b, l));
    if (w.output_scale) post *= *w.output_scale;
    check_finite(b, l, "outputs", all_finite(post));
    keep_input(b, l, std::move(resid));
    return post;
}

}  // namespace headlight
