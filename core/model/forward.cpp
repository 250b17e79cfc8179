// The transformer (Vaswani et al. 2017), top to bottom like its equations. Pre-norm, post-norm, parallel and
// encoder–decoder models are the same lines with norms in other places.
#include "model/forward.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "model/sinusoids.h"

namespace headlight {

namespace {

/// Calls rows(first, count) for blocks of rows, on all threads.
void for_row_blocks(ThreadPool& pool, Index n, Index block, const std::function<void(Index, Index)>& rows) {
    pool.run(static_cast<int>((n + block - 1) / block),
             [&](int i) { rows(i * block, std::min(block, n - i * block)); });
}

/// The nonlinearity, in place. GELU: Hendrycks and Gimpel 2016, exact and in its tanh form. SiLU: Elfwing et
/// al. 2018.
void apply_activation(Activation activation, Eigen::Ref<Eigen::ArrayXf> x) {
    switch (activation) {
        case Activation::gelu_tanh: {
            const float root = std::sqrt(2.0f / static_cast<float>(EIGEN_PI));
            // tanh(u) = 1 − 2 / (exp(2u) + 1), so 0.5 (1 + tanh u) = 1 − 1 / (exp(2u) + 1)
            x = x - x / ((2.0f * root * (x + 0.044715f * x.cube())).exp() + 1.0f);
            return;
        }
        case Activation::gelu:
            x = x.unaryExpr(
                [](float v) { return 0.5f * v * (1.0f + std::erf(v * static_cast<float>(M_SQRT1_2))); });
            return;
        case Activation::relu:
            x = x.max(0.0f);
            return;
        case Activation::silu:
            x = x / ((-x).exp() + 1.0f);
            return;
        case Activation::quick_gelu:
            x = x / ((-1.702f * x).exp() + 1.0f);
            return;
    }
}

Matrix project(ThreadPool& pool, ConstMatrixRef x, const Linear& w) {
    Matrix y(x.rows(), w.out);
    apply_linear(pool, x, w, y);
    return y;
}

/// `rows` under the first `n_past` rows of an earlier pass.
Matrix append_rows(const Matrix* past, Index n_past, Matrix rows) {
    if (!n_past) return rows;
    Matrix all(n_past + rows.rows(), rows.cols());
    all.topRows(n_past) = past->topRows(n_past);
    all.bottomRows(rows.rows()) = rows;
    return all;
}

/// One pass over one stack.
struct Pass {
    const Model& model;
    const StackConfig& stack;
    const StackWeights& weights;
    ThreadPool& pool;
    const Sequence& input;
    const Matrix* source = nullptr;  // what cross-attention reads: the encoder's final norm
    bool source_past = false;        // … which is the one of the earlier pass
    const StackActivations* past = nullptr;
    Index n_past = 0;                   // rows taken from it
    int layers_past = 0;                // layers taken from it whole
    std::span<const LayerRules> rules;  // of each layer

    const ModelConfig& config() const { return model.config; }
    Matrix norm(const Norm& n, ConstMatrixRef x) const { return apply_norm(config(), n, x, pool); }
};

/// Throws where a number is NaN or infinite. Asked stage by stage, so that the first one is named; layer −1:
/// before all layers.
void check_finite(const Pass& p, int layer, const char* what, const ConstMatrixRef& x) {
    if (all_finite(x)) return;
    const std::string stack = p.config().stacks.size() > 1 ? p.stack.name + " " : "",
                      where = layer < 0 ? stack : stack + "layer " + std::to_string(layer) + "'s ";
    throw Failure({p.model.name + ": " + where + what +
                   " are not finite; the weights hold NaN or infinity, or a change is too large: undo the "
                   "change, or fetch the model again."});
}

/// [n − n_past, width]: rows of an embedding table.
Matrix look_up(const Linear& table, Index count, const std::function<int64_t(Index)>& row) {
    Matrix x(count, table.in);
    for (Index i = 0; i < count; ++i) {
        const int64_t at = row(i);
        HEADLIGHT_CHECK(at >= 0 && at < table.out);
        table.read(at, 0, table.in, x.row(i).data());
    }
    return x;
}

/// Row of the position table for each token from `n_past` on.
std::vector<int64_t> position_rows(const Pass& p) {
    const ModelConfig& c = p.config();
    std::vector<int64_t> rows;
    int64_t next = c.position_offset;
    for (const int id : p.input.ids) rows.push_back(id == c.position_pad ? c.position_pad : next++);
    return rows;
}

/// [n, d_model]: patches through their projection behind the class token, plus positions.
Matrix embed_picture(const Pass& p) {
    Matrix x(p.input.size(), p.config().d_model);
    x.row(0) = Eigen::Map<const Eigen::RowVectorXf>(p.model.weights.class_token, x.cols());
    apply_linear(p.pool, p.input.picture->patches, p.model.weights.patch, x.bottomRows(x.rows() - 1));
    return x + look_up(p.weights.position_embedding, x.rows(), [](Index i) { return i; });
}

/// [n − n_past, d_model]: what enters layer 0.
Matrix embed(const Pass& p) {
    if (p.input.picture) return embed_picture(p);
    const ModelConfig& c = p.config();
    const StackWeights& w = p.weights;
    const Index count = p.input.size() - p.n_past;
    Matrix x = look_up(w.token_embedding, count,
                       [&](Index i) { return p.input.ids[static_cast<size_t>(p.n_past + i)]; });
    x *= c.embed_scale;
    const bool project_first = w.embed_project && c.d_model_positions;
    if (project_first) x = project(p.pool, x, w.embed_project);
    if (c.sinusoidal) x += sinusoids(x.cols(), p.n_past, count);
    if (w.position_embedding) {
        const auto rows = position_rows(p);
        x += look_up(w.position_embedding, count,
                     [&](Index i) { return rows[static_cast<size_t>(p.n_past + i)]; });
    }
    if (w.type_embedding)
        x += look_up(w.type_embedding, count, [&](Index i) {
            return p.input.types.empty() ? 0 : p.input.types[static_cast<size_t>(p.n_past + i)];
        });
    if (w.embed_norm) x = p.norm(w.embed_norm, x);
    if (w.embed_project && !project_first) x = project(p.pool, x, w.embed_project);
    return x;
}

/// mlp_out[rows, d_model] = W_out · act(W_in x), or W_out · (act(W_gate x) · W_in x), then the norm on it
/// where there is one.
Matrix feed_forward_rows(const Pass& p, const LayerWeights& w, ConstMatrixRef x) {
    constexpr Index kApart =
        16;  // rows a multiple of 4 KB apart would share one set of the first-level cache
    Matrix padded(x.rows(), w.mlp_in.out + kApart), gate;
    auto hidden = padded.leftCols(w.mlp_in.out);
    apply_linear(p.pool, x, w.mlp_in, hidden);
    if (w.mlp_gate) gate = project(p.pool, x, w.mlp_gate);
    for_row_blocks(p.pool, hidden.rows(), 4, [&](Index first, Index count) {
        for (Index i = first; i < first + count; ++i) {
            if (!w.mlp_gate) {
                apply_activation(p.config().activation, hidden.row(i).transpose().array());
                continue;
            }
            apply_activation(p.config().activation, gate.row(i).transpose().array());
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

/// q or k: projected, normalised per head where the model does so, rotated.
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

/// Scores to what the block adds, for the rows from `n_past` on.
Matrix finish_attention(const Pass& p, const AttentionWeights& w, const AttentionActivations& a, int layer) {
    check_finite(p, layer, "queries", a.q.bottomRows(a.q.rows() - p.n_past));
    check_finite(p, layer, "keys", a.k);
    check_finite(p, layer, "values", a.v);
    Matrix z(a.q.rows() - p.n_past, a.q.cols());
    attend(p.pool, *a.rule, a.q, a.k, a.v, static_cast<int>(p.n_past), z);
    return block_output(p.config(), w, z, p.pool);
}

Matrix attend_self(const Pass& p, const AttentionWeights& w, const Matrix& x, const Rope& rope,
                   const RopeTable& rope_tables, const AttentionActivations* past, AttentionActivations& a,
                   int layer) {
    const ModelConfig& c = p.config();
    a.q = append_rows(past ? &past->q : nullptr, p.n_past,
                      project_heads(p, x, w.q, w.q_norm, a.rule->heads, rope, rope_tables));
    a.k = append_rows(past ? &past->k : nullptr, p.n_past,
                      project_heads(p, x, w.k, w.k_norm, a.rule->kv_heads, rope, rope_tables));
    a.v = append_rows(past ? &past->v : nullptr, p.n_past, project(p.pool, x, w.v));
    return finish_attention(p, w, a, layer);
}

Matrix attend_cross(const Pass& p, const AttentionWeights& w, const Matrix& x,
                    const AttentionActivations* past, AttentionActivations& a, int layer) {
    a.q = append_rows(past ? &past->q : nullptr, p.n_past, project(p.pool, x, w.q));
    a.k = past && p.source_past ? past->k : project(p.pool, *p.source, w.k);
    a.v = past && p.source_past ? past->v : project(p.pool, *p.source, w.v);
    return finish_attention(p, w, a, layer);
}

/// Cosines and sines of the new rows, for each of the model's two rotary embeddings.
struct RopeTables {
    RopeTable usual, local;
    explicit RopeTables(const Pass& p) {
        const int n = p.input.size(), n_past = static_cast<int>(p.n_past);
        const ModelConfig& c = p.config();
        if (c.rope.dims) usual = make_rope_table(c.rope, n, n_past, n - n_past);
        if (c.local_rope.dims) local = make_rope_table(c.local_rope, n, n_past, n - n_past);
    }
    const RopeTable& of(const ModelConfig& c, const Rope& rope) const {
        return &rope == &c.local_rope ? local : usual;
    }
};

/// One layer on the new rows of the residual stream; returns what leaves it.
Matrix run_layer(const Pass& p, int l, Matrix resid, const RopeTables& rope_tables, LayerActivations& layer) {
    const ModelConfig& c = p.config();
    const LayerWeights& w = p.weights.layers[static_cast<size_t>(l)];
    const LayerActivations* past = p.n_past ? p.past->layers[static_cast<size_t>(l)].get() : nullptr;
    const LayerRules& rules = p.rules[static_cast<size_t>(l)];
    const bool after = c.norm_place == NormPlace::after;
    const auto enters = [&](const Norm& norm, const Matrix& x) {
        return after || !norm ? x : p.norm(norm, x);
    };
    const auto leaves = [&](const Norm& norm, Matrix x) { return after ? p.norm(norm, x) : x; };

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
    check_finite(p, l, "outputs", post);
    layer.resid_pre = append_rows(past ? &past->resid_pre : nullptr, p.n_past, std::move(resid));
    return post;
}

std::shared_ptr<const StackActivations> run_stack(const Pass& p) {
    auto a = std::make_shared<StackActivations>();
    if (p.layers_past) a->layers.assign(p.past->layers.begin(), p.past->layers.begin() + p.layers_past);
    Matrix resid = p.layers_past ? p.past->layers[static_cast<size_t>(p.layers_past)]->resid_pre : embed(p);
    check_finite(p, -1, "embeddings", resid);
    const RopeTables rope_tables(p);
    for (int l = p.layers_past; l < p.stack.layers; ++l) {
        p.pool.stop_point();
        auto layer = std::make_shared<LayerActivations>();
        resid = run_layer(p, l, std::move(resid), rope_tables, *layer);
        a->layers.push_back(std::move(layer));
    }
    const Matrix* past_normalized = p.n_past ? &p.past->normalized : nullptr;
    Matrix normalized = p.weights.final_norm ? p.norm(p.weights.final_norm, resid) : resid;
    check_finite(p, -1, "final norm's outputs", normalized);
    a->normalized = append_rows(past_normalized, p.n_past, std::move(normalized));
    a->resid_final = append_rows(p.n_past ? &p.past->resid_final : nullptr, p.n_past, std::move(resid));
    return a;
}

/// The stacks one after another; what goes wrong is thrown.
Activations run_stacks(const Model& model, const CheckedSequences& inputs,
                       std::span<const std::vector<LayerRules>> rules, ThreadPool& pool, const Reuse& reuse) {
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
        if (pass.stack.cross) {
            pass.source = &a.stacks[s - 1]->normalized;
            pass.source_past = reuse.past && a.stacks[s - 1] == reuse.past->stacks[s - 1];
        }
        a.stacks.push_back(run_stack(pass));
    }
    return a;
}

}  // namespace

Matrix project_out(const AttentionWeights& w, ConstMatrixRef z, ThreadPool& pool) {
    return project(pool, z, w.o);
}

Matrix block_output(const ModelConfig& c, const AttentionWeights& w, ConstMatrixRef z, ThreadPool& pool) {
    Matrix out = project_out(w, z, pool);
    return w.post_norm ? apply_norm(c, w.post_norm, out, pool) : out;
}

Matrix apply_norm(const ModelConfig& config, const Norm& norm, ConstMatrixRef x, ThreadPool& pool) {
    HEADLIGHT_CHECK(norm);
    Matrix y(x.rows(), x.cols());
    const bool centre = config.norm == NormKind::layer_norm;
    const Eigen::Map<const Eigen::RowVectorXf> weight(norm.weight, x.cols());
    for_row_blocks(pool, x.rows(), 16, [&](Index first, Index count) {
        for (Index i = first; i < first + count; ++i) {
            const float mean = centre ? x.row(i).mean() : 0.0f;
            const auto centred = (x.row(i).array() - mean).matrix();
            const float deviation =
                std::sqrt(centred.squaredNorm() / static_cast<float>(x.cols()) + config.norm_eps);
            y.row(i) = centred.cwiseProduct(weight) / deviation;
            if (norm.bias) y.row(i) += Eigen::Map<const Eigen::RowVectorXf>(norm.bias, x.cols());
        }
    });
    return y;
}

Result<Activations> forward(const Model& model, const CheckedSequences& inputs,
                            std::span<const std::vector<LayerRules>> rules, ThreadPool& pool,
                            const CancelFlag* cancel, const Reuse& reuse) {
    HEADLIGHT_CHECK(&inputs.model() == &model);
    return guarded([&]() -> Result<Activations> {
        const CancelScope scope(pool, cancel);
        return run_stacks(model, inputs, rules, pool, reuse);
    });
}

Matrix unembed(const Model& model, ConstMatrixRef normalized, ThreadPool& pool) {
    const ModelConfig& c = model.config;
    const ModelWeights& w = model.weights;
    HEADLIGHT_CHECK(w.unembedding);
    Matrix x = normalized * c.logit_scale;
    if (w.head_dense) x = project(pool, x, w.head_dense);
    if (c.mlm_head)
        for (Index i = 0; i < x.rows(); ++i)
            apply_activation(c.head_activation, x.row(i).transpose().array());
    if (w.head_norm) x = apply_norm(c, w.head_norm, x, pool);
    Matrix logits = project(pool, x, w.unembedding);
    if (c.logit_cap > 0) logits = (logits.array() / c.logit_cap).tanh() * c.logit_cap;
    if (!all_finite(logits))
        throw Failure({model.name + ": the logits are not finite; the weights of its head hold NaN or "
                                    "infinity: fetch the model again."});
    return logits;
}

}  // namespace headlight
