// The reverse pass, like the forward pass from top to bottom, read upward: the last stack first, its final
// norm, its layers from the last to the first; in a layer the MLP, cross-attention, attention.
#include "model/backward.h"

#include <algorithm>

#include "base/cast.h"
#include "base/check.h"
#include "model/batch.h"
#include "model/vector_jacobian.h"

namespace headlight {

namespace {

/// A stack while a reverse pass runs over it.
struct StackBackward : StackRun {
    const StackActivations& activations;
    RopeTables turned_back;      // cosines and sines of the opposite angles
    const Matrix sources;        // [keys, d_model]: what cross-attention reads
    Matrix by_sources;           // … and the gradient by it, added up over the layers
    int gradients;               // that go back together
    GradientObserver* observer;  // of a lone one
};

/// A block within a layer: x becomes sum = x + block(reads), and out: the same, or its norm.
struct Passed {
    Matrix sum, out;
};

/// The gradients by the two things that a block joins.
struct ByInputs {
    Matrix x, reads;
};

/// One layer on the way back.
struct LayerBackward {
    StackBackward& s;
    int l;
    const LayerWeights& w;
    const LayerActivations& a;
    LayerGradients& out;
    const bool after;                               // norms stand behind the sums
    const int n = narrow<int>(a.resid_pre.rows());  // of each of the gradients

    Matrix run(Matrix by_post);
    template <class Block>
    Passed pass(const Norm& norm, const Matrix& x, const Block& block) const {
        Passed p{x + block(), {}};
        p.out = after ? s.norm(norm, p.sum) : p.sum;
        return p;
    }
    template <class Through>
    ByInputs back(const Norm& norm, const Matrix& reads, const Matrix& sum, Matrix d, const Through& through);
    Matrix through_self(const Matrix& x, Matrix d);
    Matrix through_cross(Matrix d);
    Matrix through_mlp_of(const Matrix& x, Matrix d);
    void through_block(int block, const AttentionWeights& weights, const AttentionActivations& attention,
                       Matrix d, AttentionGradients& gradients);
    Matrix through_heads(const Matrix& x, Matrix d, const Linear& weights, const Norm& norm, int heads);
};

/// From z's gradient on: q, k and v of a block.
void LayerBackward::through_block(int block, const AttentionWeights& weights,
                                  const AttentionActivations& attention, Matrix d,
                                  AttentionGradients& gradients) {
    if (weights.post_norm) {
        Matrix z(attention.q.rows(), weights.o.in);
        attend(s.pool, *attention.rule, attention.q, attention.k, attention.v, 0, z);
        d = through_norm(s.config(), weights.post_norm, project_out(weights, z, s.pool), d, s.pool);
    }
    gradients.z = through_linear(s.pool, d, weights.o);
    const Index width = gradients.z.cols() / attention.rule->heads;
    for (int head = 0; head < isize(attention.rule->changed); ++head)
        attention.rule->changed[head].given_z.hide(n, gradients.z.middleCols(head * width, width));
    SeeGradient see;
    if (GradientObserver* const observer = s.observer) {
        observer->begin(block);
        see = [observer, block](const GradientTile& tile) { observer->see(block, tile); };
    }
    through_attention(s.pool, attention, gradients, see);
}

/// Gradients of a block that adds nothing.
AttentionGradients no_gradients(const AttentionActivations& a, int count) {
    const Matrix queries = Matrix::Zero(count * a.q.rows(), a.q.cols()),
                 keys = Matrix::Zero(count * a.k.rows(), a.k.cols());
    return {queries, queries, keys, keys, {}};
}

/// q or k: turned back, through the norm of each head, through the projection of x.
Matrix LayerBackward::through_heads(const Matrix& x, Matrix d, const Linear& weights, const Norm& norm,
                                    int heads) {
    const Rope& rope = s.config().rope_of(s.stack, l);
    if (const RopeTable& table = s.turned_back.of(s.config(), rope); table.sine.size())
        for (Index first = 0; first < d.rows(); first += x.rows())
            apply_rope(rope, table, heads, s.pool, d.middleRows(first, x.rows()));
    if (norm) {
        const Matrix before = project(s.pool, x, weights);
        const Index width = d.cols() / heads;
        const Matrix normal =
            through_norm(s.config(), norm, Eigen::Map<const Matrix>(before.data(), x.rows() * heads, width),
                         Eigen::Map<const Matrix>(d.data(), d.rows() * heads, width), s.pool);
        d = Eigen::Map<const Matrix>(normal.data(), d.rows(), d.cols());
    }
    return through_linear(s.pool, d, weights);
}

Matrix LayerBackward::through_self(const Matrix& x, Matrix d) {
    if (a.self.rule->skipped) {
        out.self = no_gradients(a.self, s.gradients);
        return Matrix::Zero(d.rows(), d.cols());
    }
    const AttentionRule& rule = *a.self.rule;
    rule.given_out.hide(n, d);
    through_block(s.blocks_of(l).front(), w.self, a.self, std::move(d), out.self);
    Matrix by_x = through_heads(x, out.self.q, w.self.q, w.self.q_norm, rule.heads);
    by_x += through_heads(x, out.self.k, w.self.k, w.self.k_norm, rule.kv_heads);
    by_x += through_linear(s.pool, out.self.v, w.self.v);
    return by_x;
}

Matrix LayerBackward::through_cross(Matrix d) {
    if (a.cross.rule->skipped) {
        out.cross = no_gradients(a.cross, s.gradients);
        return Matrix::Zero(d.rows(), d.cols());
    }
    a.cross.rule->given_out.hide(n, d);
    through_block(s.blocks_of(l).back(), w.cross, a.cross, std::move(d), out.cross);
    s.by_sources += through_linear(s.pool, out.cross.k, w.cross.k);
    s.by_sources += through_linear(s.pool, out.cross.v, w.cross.v);
    return through_linear(s.pool, out.cross.q, w.cross.q);
}

Matrix LayerBackward::through_mlp_of(const Matrix& x, Matrix d) {
    if (a.changed.no_mlp) return Matrix::Zero(d.rows(), d.cols());
    a.changed.mlp_out.hide(n, d);
    return through_mlp(s, w, x, d);
}

/// through(x, d): from what the block gave to what it read, behind the norm where that stands before it.
template <class Through>
ByInputs LayerBackward::back(const Norm& norm, const Matrix& reads, const Matrix& sum, Matrix d,
                             const Through& through) {
    if (after) d = through_norm(s.config(), norm, sum, d, s.pool);
    const bool before = !after && norm;
    Matrix by_reads = through(before ? s.norm(norm, reads) : reads, d);
    if (before) by_reads = through_norm(s.config(), norm, reads, by_reads, s.pool);
    return {std::move(d), std::move(by_reads)};
}

Matrix LayerBackward::run(Matrix d) {
    const Matrix pre = a.resid_pre.all();
    Passed self, cross, mlp;  // what the forward pass held between
    const bool parallel = s.config().parallel;
    if (after || !parallel)
        self = pass(w.self.norm, pre, [&] { return attention_output(s, w.self, a.self); });
    if (s.stack.cross)
        cross = pass(w.cross.norm, self.out, [&] { return attention_output(s, w.cross, a.cross); });
    const Matrix& mid = s.stack.cross ? cross.out : self.out;
    const Matrix& mlp_reads = parallel ? pre : mid;
    if (after) {
        Matrix added = Matrix::Zero(mid.rows(), mid.cols());
        if (!a.changed.no_mlp) added = feed_forward(s, w, mlp_reads);
        a.changed.mlp_out.put(0, added);
        mlp.sum = mid + added;
    }

    ByInputs by = back(w.mlp_norm, mlp_reads, mlp.sum, std::move(d),
                       [&](const Matrix& x, const Matrix& dy) { return through_mlp_of(x, dy); });
    const Matrix beside = parallel ? std::move(by.reads) : Matrix();  // goes straight to what entered
    out.resid_mid = parallel ? by.x : Matrix(by.x + by.reads);
    out.mlp_out = std::move(by.x);
    d = out.resid_mid;
    if (s.stack.cross) {
        by = back(w.cross.norm, self.out, cross.sum, std::move(d),
                  [&](const Matrix&, const Matrix& dy) { return through_cross(dy); });
        out.resid_cross = by.x + by.reads;
        out.cross.out = std::move(by.x);
        d = out.resid_cross;
    }
    by = back(w.self.norm, pre, self.sum, std::move(d),
              [&](const Matrix& x, const Matrix& dy) { return through_self(x, dy); });
    Matrix by_pre = by.x + by.reads;
    out.self.out = std::move(by.x);
    if (beside.size()) by_pre += beside;
    a.changed.resid_pre.hide(n, by_pre);
    return by_pre;
}

/// Adds the seeds at a depth of a stack to the gradients there, n rows each.
void add_seeds(std::span<const GradientSeed> seeds, int stack, int depth, Index n, Matrix& d) {
    for (const GradientSeed& seed : seeds) {
        if (seed.stack != stack || seed.depth != depth) continue;
        HEADLIGHT_CHECK(seed.row >= 0 && seed.row + seed.gradient.rows() <= n &&
                        seed.gradient.cols() == d.cols());
        d.middleRows(seed.number * n + seed.row, seed.gradient.rows()) += seed.gradient;
    }
}

/// From behind the final norm to what entered layer 0.
StackGradients through_stack(StackBackward& s, int stack, std::span<const GradientSeed> seeds,
                             Matrix by_normalized) {
    const int layers = s.stack.layers;
    const Index n = s.activations.resid_final.rows();
    StackGradients out;
    out.resid.resize(layers + 1);
    out.layers.resize(layers);
    add_seeds(seeds, stack, layers + 1, n, by_normalized);
    const Norm& norm = s.weights.final_norm;
    Matrix d = norm ? through_norm(s.config(), norm, s.activations.resid_final.all(), by_normalized, s.pool)
                    : std::move(by_normalized);
    for (int depth = layers;; --depth) {
        add_seeds(seeds, stack, depth, n, d);
        check_finite(s, depth - 1, "gradients", all_finite(d));
        out.resid[depth] = d;
        if (depth == 0) return out;
        s.pool.stop_point();
        const int l = depth - 1;
        LayerBackward layer{s,
                            l,
                            s.weights.layers[l],
                            *s.activations.layers[l],
                            out.layers[l],
                            s.config().norm_place == NormPlace::after};
        d = layer.run(std::move(d));
    }
}

/// The tables of the opposite turn at every token: a turn's transpose, with the factor that both carry.
RopeTables turned_back(const Pass& pass) {
    RopeTables tables(pass);
    for (RopeTable* table : {&tables.usual, &tables.local}) table->sine *= -1;
    return tables;
}

/// The stacks, the last one first; what goes wrong is thrown.
Gradients through_stacks(const Model& model, std::span<const Sequence> inputs, const Activations& activations,
                         std::span<const GradientSeed> seeds, ThreadPool& pool, GradientObserver* observer) {
    const ModelConfig& c = model.config;
    HEADLIGHT_CHECK(activations.stacks.size() == c.stacks.size() && inputs.size() == c.stacks.size() &&
                    model.weights.stacks.size() == c.stacks.size());
    Gradients out;
    out.stacks.resize(c.stacks.size());
    int gradients = 1;
    for (const GradientSeed& seed : seeds) gradients = std::max(gradients, seed.number + 1);
    HEADLIGHT_CHECK(gradients == 1 || !observer);
    Matrix by_normalized;  // of the stack in turn, by those behind it
    for (int i = isize(c.stacks) - 1; i >= 0; --i) {
        const StackActivations& own = *activations.stacks[i];
        const StackRun run{model, c.stacks[i], model.weights.stacks[i], pool};
        Pass pass{run, inputs[i]};
        std::vector<LayerRules> rules{own.layers.front()->rules()};
        pass.rules = rules;
        Matrix sources = run.stack.cross ? activations.stacks[i - 1]->normalized.all() : Matrix();
        Matrix by_sources = Matrix::Zero(gradients * sources.rows(), sources.cols());
        if (!by_normalized.size())
            by_normalized = Matrix::Zero(gradients * own.resid_final.rows(), c.d_model);
        StackBackward s{run,       own,     turned_back(pass), std::move(sources), std::move(by_sources),
                        gradients, observer};
        out.stacks[i] = through_stack(s, i, seeds, std::move(by_normalized));
        by_normalized = std::move(s.by_sources);
    }
    return out;
}

}  // namespace

Result<Gradients> backward(const Model& model, std::span<const Sequence> inputs,
                           const Activations& activations, std::span<const GradientSeed> seeds,
                           ThreadPool& pool, const CancelFlag* cancel, GradientObserver* observer) {
    return guarded([&]() -> Result<Gradients> {
        const CancelScope scope(pool, cancel);
        Gradients out = through_stacks(model, inputs, activations, seeds, pool, observer);
        pool.stop_point();
        return out;
    });
}

}  // namespace headlight
