// Runs the reverse pass, from the last stack to the first, each from its final norm down to layer 0.
#include "model/backward/backward.h"

#include <algorithm>

#include "base/cast.h"
#include "base/check.h"
#include "base/spare.h"
#include "model/backward/layer_backward.h"
#include "model/backward/vector_jacobian.h"
#include "model/streams.h"

namespace headlight {

Matrix EmbeddingGradients::of(int output) const {
    const GradientRows::Part& part = rows.part(output);
    Matrix out = Matrix::Zero(rows.tokens(), values.cols());
    out.middleRows(part.tokens.begin, part.tokens.size()) = values.middleRows(part.at, part.tokens.size());
    return out;
}

Vector EmbeddingGradients::squared_lengths(int output) const {
    const GradientRows::Part& part = rows.part(output);
    Vector out = Vector::Zero(rows.tokens());
    out.segment(part.tokens.begin, part.tokens.size()) =
        values.middleRows(part.at, part.tokens.size()).rowwise().squaredNorm();
    return out;
}

namespace {

/// Holds the gradient on its way down a stack, and which rows it has.
struct Flow {
    GradientRows rows;
    Matrix d;
};

/// Adds the seeds of one depth; their columns are those of `d` from `column` on.
void add_seeds(std::span<const GradientSeed> seeds, int stack, int depth, Index column, Flow& flow) {
    std::vector<KeyRange> tokens(static_cast<size_t>(flow.rows.outputs()));
    for (const GradientSeed& seed : seeds) {
        if (seed.stack != stack || seed.depth != depth) continue;
        const KeyRange own{seed.row, seed.row + narrow<int>(seed.gradient.rows())};
        HEADLIGHT_CHECK(own.begin >= 0 && own.end <= flow.rows.tokens() &&
                        column + seed.gradient.cols() <= flow.d.cols());
        KeyRange& all = tokens[static_cast<size_t>(seed.output)];
        all = joined(all, own);
    }
    const GradientRows wider = flow.rows.with(tokens);
    flow.d = flow.rows.widened(std::move(flow.d), wider);
    flow.rows = wider;
    for (const GradientSeed& seed : seeds) {
        if (seed.stack != stack || seed.depth != depth) continue;
        const GradientRows::Part& part = wider.part(seed.output);
        flow.d.block(part.at + seed.row - part.tokens.begin, column, seed.gradient.rows(),
                     seed.gradient.cols()) += seed.gradient;
    }
}

/// Adds what layers read of the embeddings beside the stream.
void add_by_embeddings(GradientSum& by, Flow& flow) {
    by.add(flow.rows, std::move(flow.d));
    flow = {std::move(by.rows), std::move(by.values)};
}

/// Propagates through the final norm, and to the streams whose mean it reads.
void leave_vjp(const StackBackward& s, Flow& flow) {
    const StackActivations& a = s.activations;
    const bool any = flow.rows.rows() > 0;
    if (const Norm& norm = s.weights.final_norm; norm && any)
        flow.d = norm_vjp(s.config(), norm, a.resid_final.all(), flow.d, flow.rows.token_of(), s.pool);
    if (!s.stack.streams) return;
    flow.d = any ? leave_streams_vjp(s, a.streams.all(), flow.d, flow.rows) : Matrix(0, a.streams.cols());
}

/// Propagates from the streams that enter layer 0 to the embeddings.
void enter_vjp(const StackBackward& s, Flow& flow) {
    if (!s.stack.streams) return;
    flow.d = flow.rows.rows() > 0 ? enter_streams_vjp(s, s.activations.embeddings().all(), flow.d, flow.rows)
                                  : Matrix(0, s.config().d_model);
}

/// Propagates from the output of the final norm to the input of layer 0; stores all gradients on the way in
/// `kept`, unless it is null.
void stack_vjp(StackBackward& s, int stack, std::span<const GradientSeed> seeds, Flow& flow,
               StackGradients* kept) {
    const int layers = s.stack.depth();
    if (kept) {
        kept->resid.resize(layers + 1);
        kept->layers.resize(layers);
    }
    const Index d = s.config().d_model, active = s.stack.streams ? s.stack.streams->active * d : 0;
    add_seeds(seeds, stack, layers + 1, 0, flow);
    leave_vjp(s, flow);
    for (int depth = layers;; --depth) {
        if (depth == 0) enter_vjp(s, flow);
        const Index column = depth ? active : 0;
        add_seeds(seeds, stack, depth, column, flow);
        if (depth == 0 && s.by_embeddings.values.size()) add_by_embeddings(s.by_embeddings, flow);
        check_finite(s, depth - 1, "gradients", all_finite(flow.d));
        if (kept) kept->resid[depth] = flow.d.middleCols(column, d);
        if (depth == 0) return;
        s.pool.stop_point();
        if (flow.rows.rows() == 0) continue;
        flow.d =
            layer_vjp(s, depth - 1, std::move(flow.d), flow.rows, kept ? &kept->layers[depth - 1] : nullptr);
    }
}

/// Builds the inverse rotation of every token: its transpose, scaled by the same attention factor.
RopeTables inverse_rope(const Pass& pass) {
    RopeTables tables(pass);
    tables.invert();
    return tables;
}

int outputs_of(std::span<const GradientSeed> seeds) {
    int out = 1;
    for (const GradientSeed& seed : seeds) out = std::max(out, seed.output + 1);
    return out;
}

/// Propagates through the stacks, the last one first; throws on failure. Stores every gradient, of all rows,
/// in `kept`, unless it is null.
std::vector<EmbeddingGradients> stacks_vjp(const Model& model, std::span<const Sequence> inputs,
                                           const Activations& activations,
                                           std::span<const GradientSeed> seeds, ThreadPool& pool,
                                           GradientObserver* observer, Gradients* kept) {
    const ModelConfig& c = model.config;
    HEADLIGHT_CHECK(activations.stacks.size() == c.stacks.size() && inputs.size() == c.stacks.size() &&
                    model.weights.stacks.size() == c.stacks.size());
    const int outputs = outputs_of(seeds);
    std::vector<EmbeddingGradients> out(c.stacks.size());
    if (kept) kept->stacks.resize(c.stacks.size());
    std::vector<Flow> read(c.stacks.size());  // gradients by what later stacks read from each
    for (int i = isize(c.stacks) - 1; i >= 0; --i) {
        const StackActivations& own = *activations.stacks[i];
        const StackRun run{model, c.stacks[i], model.weights.stacks[i], pool};
        Pass pass{run, inputs[i]};
        std::vector<LayerRules> rules{own.layers.front()->rules()};
        pass.rules = rules;
        Matrix sources =
            run.stack.cross() ? activations.stacks[run.stack.source]->normalized.all() : Matrix();
        const int n = narrow<int>(own.resid_final.rows()), keys = narrow<int>(sources.rows());
        Flow flow = std::move(read[i]);
        if (!flow.d.size())
            flow.rows = kept ? GradientRows::whole(n, outputs) : GradientRows::none(n, outputs);
        if (!flow.d.size()) flow.d = Matrix::Zero(flow.rows.rows(), c.d_model);
        const GradientRows source_rows = GradientRows::whole(keys, outputs);
        StackBackward s{run, own, inverse_rope(pass), std::move(sources), Matrix(), source_rows, observer};
        s.by_sources = Matrix::Zero(source_rows.rows(), c.d_model);
        stack_vjp(s, i, seeds, flow, kept ? &kept->stacks[i] : nullptr);
        if (run.stack.cross() && (kept || flow.rows.rows()))
            read[run.stack.source] = {source_rows, std::move(s.by_sources)};
        out[i] = {std::move(flow.rows), std::move(flow.d)};
    }
    return out;
}

}  // namespace

Result<Gradients> backward(const Model& model, std::span<const Sequence> inputs,
                           const Activations& activations, std::span<const GradientSeed> seeds,
                           ThreadPool& pool, const CancelFlag* cancel, GradientObserver* observer) {
    return guarded([&]() -> Result<Gradients> {
        const CancelScope scope(pool, cancel);
        Gradients out;
        stacks_vjp(model, inputs, activations, seeds, pool, observer, &out);
        pool.stop_point();
        return out;
    });
}

Result<std::vector<EmbeddingGradients>> embedding_gradients(const Model& model,
                                                            std::span<const Sequence> inputs,
                                                            const Activations& activations,
                                                            std::span<const GradientSeed> seeds,
                                                            ThreadPool& pool, const CancelFlag* cancel,
                                                            GradientObserver* observer) {
    return guarded([&]() -> Result<std::vector<EmbeddingGradients>> {
        const CancelScope scope(pool, cancel);
        auto out = stacks_vjp(model, inputs, activations, seeds, pool, observer, nullptr);
        pool.stop_point();
        return out;
    });
}

}  // namespace headlight
