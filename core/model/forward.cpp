// The transformer (Vaswani et al. 2017), top to bottom like its equations. Pre-norm, post-norm, parallel and
// encoder–decoder models are the same lines with norms in other places.
#include "model/forward.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/check.h"
#include "model/activation.h"
#include "model/pass.h"

namespace headlight {

namespace {

/// `rows` behind the first `n_past` rows of an earlier pass, which are shared with it.
Rows append_rows(const Rows* past, Index n_past, Matrix rows) {
    return past ? Rows(*past, n_past, std::move(rows)) : Rows(std::move(rows));
}

/// Throws where a number is not finite. Asked stage by stage, so that the first one is named; layer −1:
/// before all layers.
void check_finite(const Pass& p, int layer, const char* what, bool finite) {
    if (finite) return;
    const std::string stack = p.config().stacks.size() > 1 ? p.stack.name + " " : "",
                      where = layer < 0 ? stack : stack + "layer " + std::to_string(layer) + "'s ";
    throw Failure({p.model.name + ": " + where + what +
                   " are not finite; the weights hold NaN or infinity, or a change is too large: undo the "
                   "change, or fetch the model again."});
}

/// mlp_out[rows, d_model] = W_out · act(W_in x), or W_out · (act(W_gate x) · W_in x), then the norm on it
/// where there is one.
Matrix feed_forward_rows(const Pass& p, const LayerWeights& w, ConstMatrixRef x) {
    constexpr Index kApart =
        16;  // rows a multiple of 4 KB apart would share one set of the first-level cache
    Matrix padded(x.rows(), w.mlp_in.out + kApart), gate;
    auto hidden = padded.leftCols(w.mlp_in.out);
    const auto activate = activation_row(p.config().activation).apply;
    apply_linear(p.pool, x, w.mlp_in, hidden);
    if (w.mlp_gate) gate = project(p.pool, x, w.mlp_gate);
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
    return w.mlp_post_norm ? p.norm(w.mlp_post_norm, out) : out;
}

/// The MLP on all rows, some at a time: its hidden rows are wide.
Matrix feed_forward(const Pass& p, const LayerWeights& w, const Matrix& x) {
    constexpr Index kRows = 256;
    if (x.rows() <= kRows) return feed_forward_rows(p, w, x);
    Matrix out(x.rows(), w.mlp_out.out);
    for (Index first = 0; first < x.rows(); first += kRows) {
        const Index rows = std::min(kRows, x.rows() - first);
        out.middleRows(first, rows) = feed_forward_rows(p, w, x.middleRows(first, rows));
    }
    return out;
}

/// q or k: projected, normalized per head where the model does so, rotated.
Matrix project_heads(const Pass& p, ConstMatrixRef x, const Linear& w, const Norm& norm, int heads,
                     const Rope& rope, const RopeTable& rope_tables) {
    Matrix y = project(p.pool, x, w);
    if (norm) {
        const Eigen::Map<const Matrix> by_head(y.data(), y.rows() * heads, y.cols() / heads);
        const Matrix normal = p.norm(norm, by_head);
        y = Eigen::Map<const Matrix>(normal.data(), y.rows(), y.cols());
    }
    if (rope_tables.sine.size()) apply_rope(rope, rope_tables, heads, p.pool, y);
    return y;
}

/// Scores to what the block adds, for the rows from `n_past` on; keys_past: keys taken from an earlier pass.
Matrix finish_attention(const Pass& p, const AttentionWeights& w, const AttentionActivations& a,
                        Index keys_past, int layer, int block) {
    check_finite(p, layer, "queries", all_finite(a.q, p.n_past));
    check_finite(p, layer, "keys", all_finite(a.k, keys_past));
    check_finite(p, layer, "values", all_finite(a.v, keys_past));
    Matrix z(a.q.rows() - p.n_past, a.q.cols());
    SeeTile see;
    if (p.observer) {
        p.observer->begin(block, narrow<int>(p.n_past));
        see = [&](const PatternTile& tile) { p.observer->see(block, tile); };
    }
    attend(p.pool, *a.rule, a.q, a.k, a.v, narrow<int>(p.n_past), z, see);
    return block_output(p.config(), w, z, p.pool);
}

Matrix attend_self(const Pass& p, const AttentionWeights& w, const Matrix& x, const Rope& rope,
                   const RopeTable& rope_tables, const AttentionActivations* past, AttentionActivations& a,
                   int layer) {
    a.q = append_rows(past ? &past->q : nullptr, p.n_past,
                      project_heads(p, x, w.q, w.q_norm, a.rule->heads, rope, rope_tables));
    a.k = append_rows(past ? &past->k : nullptr, p.n_past,
                      project_heads(p, x, w.k, w.k_norm, a.rule->kv_heads, rope, rope_tables));
    a.v = append_rows(past ? &past->v : nullptr, p.n_past, project(p.pool, x, w.v));
    return finish_attention(p, w, a, p.n_past, layer, p.blocks_of(layer).front());
}

Matrix attend_cross(const Pass& p, const AttentionWeights& w, const Matrix& x,
                    const AttentionActivations* past, AttentionActivations& a, int layer) {
    a.q = append_rows(past ? &past->q : nullptr, p.n_past, project(p.pool, x, w.q));
    const AttentionActivations* same = p.source_past ? &p.past->layers[layer]->cross : nullptr;
    a.k = same ? same->k : project(p.pool, p.source, w.k);
    a.v = same ? same->v : project(p.pool, p.source, w.v);
    return finish_attention(p, w, a, same ? a.k.rows() : 0, layer, p.blocks_of(layer).back());
}

/// Cosines and sines of the new rows where their tokens stand.
RopeTable rope_table_of(const Pass& p, const Rope& rope) {
    const int n = p.input.size(), n_past = narrow<int>(p.n_past);
    if (!rope.dims) return {};
    if (p.positions().own()) return make_rope_table(rope, n, n_past, n - n_past);
    const RopeTable all = make_rope_table(rope, n, 0, n);
    const std::vector<int> at = p.new_positions();
    return {all.cosine(at, Eigen::all), all.sine(at, Eigen::all)};
}

/// For each of the model's two rotary embeddings.
struct RopeTables {
    RopeTable usual, local;
    explicit RopeTables(const Pass& p)
        : usual(rope_table_of(p, p.config().rope)), local(rope_table_of(p, p.config().local_rope)) {}
    const RopeTable& of(const ModelConfig& c, const Rope& rope) const {
        return &rope == &c.local_rope ? local : usual;
    }
};

/// One layer on the new rows of the residual stream; returns what leaves it.
Matrix run_layer(const Pass& p, int l, Matrix resid, const RopeTables& rope_tables, LayerActivations& layer) {
    const ModelConfig& c = p.config();
    const LayerWeights& w = p.weights.layers[l];
    const LayerActivations* past = p.n_past ? p.past->layers[l].get() : nullptr;
    const LayerRules& rules = p.rules[l];
    const bool after = c.norm_place == NormPlace::after;
    const auto enters = [&](const Norm& norm, const Matrix& x) {
        return after || !norm ? x : p.norm(norm, x);
    };
    const auto leaves = [&](const Norm& norm, const Matrix& x) { return after ? p.norm(norm, x) : x; };

    const Rope& rope = c.rope_of(p.stack, l);
    layer.self.rule = rules.self;
    Matrix added = attend_self(p, w.self, enters(w.self.norm, resid), rope, rope_tables.of(c, rope),
                               past ? &past->self : nullptr, layer.self, l);
    if (rules.self->skipped) added.setZero();
    Matrix mid = leaves(w.self.norm, resid + added);
    added.resize(0, 0);
    if (p.stack.cross) {
        layer.cross.rule = rules.cross;
        added = attend_cross(p, w.cross, enters(w.cross.norm, mid), past ? &past->cross : nullptr,
                             layer.cross, l);
        if (rules.cross->skipped) added.setZero();
        mid = leaves(w.cross.norm, mid + added);
    }
    layer.no_mlp = rules.no_mlp;
    Matrix post =
        leaves(w.mlp_norm,
               rules.no_mlp ? mid : mid + feed_forward(p, w, enters(w.mlp_norm, c.parallel ? resid : mid)));
    check_finite(p, l, "outputs", all_finite(post));
    layer.resid_pre = append_rows(past ? &past->resid_pre : nullptr, p.n_past, std::move(resid));
    return post;
}

std::shared_ptr<const StackActivations> run_stack(const Pass& p) {
    auto a = std::make_shared<StackActivations>();
    if (p.layers_past) a->layers.assign(p.past->layers.begin(), p.past->layers.begin() + p.layers_past);
    Matrix resid = p.layers_past ? p.past->layers[p.layers_past]->resid_pre.all() : embed(p);
    check_finite(p, -1, "embeddings", all_finite(resid));
    const RopeTables rope_tables(p);
    for (int l = p.layers_past; l < p.stack.layers; ++l) {
        p.pool.stop_point();
        auto layer = std::make_shared<LayerActivations>();
        resid = run_layer(p, l, std::move(resid), rope_tables, *layer);
        a->layers.push_back(std::move(layer));
    }
    const Rows* past_normalized = p.n_past ? &p.past->normalized : nullptr;
    Matrix normalized = p.weights.final_norm ? p.norm(p.weights.final_norm, resid) : resid;
    check_finite(p, -1, "final norm's outputs", all_finite(normalized));
    a->normalized = append_rows(past_normalized, p.n_past, std::move(normalized));
    a->resid_final = append_rows(p.n_past ? &p.past->resid_final : nullptr, p.n_past, std::move(resid));
    return a;
}

/// The stacks one after another; what goes wrong is thrown.
Activations run_stacks(const Model& model, const CheckedSequences& inputs,
                       std::span<const std::vector<LayerRules>> rules, ThreadPool& pool, const Reuse& reuse,
                       PatternObserver* observer) {
    HEADLIGHT_CHECK(inputs.size() == model.config.stacks.size() &&
                    model.weights.stacks.size() == inputs.size() && rules.size() == inputs.size());
    Activations a;
    for (size_t s = 0; s < model.config.stacks.size(); ++s) {
        const StackReuse reused = reuse.past ? reuse.stacks[s] : StackReuse{};
        if (reused.whole) {
            a.stacks.push_back(reuse.past->stacks[s]);
            continue;
        }
        HEADLIGHT_CHECK(inputs[s].size() > 0 &&
                        (inputs[s].types.empty() || inputs[s].types.size() == inputs[s].ids.size()));
        HEADLIGHT_CHECK(reused.rows >= 0 && reused.rows <= inputs[s].size() && reused.layers >= 0 &&
                        reused.layers < model.config.stacks[s].layers && (!reused.rows || !reused.layers));
        Pass pass{model, model.config.stacks[s], model.weights.stacks[s], pool, inputs[s]};
        if (reuse.past) pass.past = reuse.past->stacks[s].get();
        pass.n_past = reused.rows;
        pass.layers_past = reused.layers;
        pass.rules = rules[s];
        pass.observer = observer;
        if (pass.stack.cross) {
            pass.source_past = reuse.past && a.stacks[s - 1] == reuse.past->stacks[s - 1];
            if (!pass.source_past) pass.source = a.stacks[s - 1]->normalized.all();
        }
        a.stacks.push_back(run_stack(pass));
    }
    return a;
}

}  // namespace

LayerRules LayerActivations::rules() const { return {self.rule, cross.rule, no_mlp}; }

Result<Activations> forward(const Model& model, const CheckedSequences& inputs,
                            std::span<const std::vector<LayerRules>> rules, ThreadPool& pool,
                            const CancelFlag* cancel, const Reuse& reuse, PatternObserver* observer) {
    HEADLIGHT_CHECK(&inputs.model() == &model);
    return guarded([&]() -> Result<Activations> {
        const CancelScope scope(pool, cancel);
        Activations out = run_stacks(model, inputs, rules, pool, reuse, observer);
        if (model.packed) model.packed->start();  // behind the first pass, so that it need not wait
        return out;
    });
}

}  // namespace headlight
