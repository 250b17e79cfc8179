// Runs the transformer (Vaswani et al. 2017): embeds the input of a stack, runs its layers (layer.cpp) and
// its final norm, then the next stack.
#include "model/forward.h"

#include <algorithm>

#include "base/cast.h"
#include "base/check.h"
#include "model/batch.h"
#include "model/layer_embedding.h"
#include "model/streams.h"

namespace headlight {

namespace {

/// Computes cosines and sines at the new rows' positions.
RopeTable rope_table_of(const Pass& p, const Rope& rope) {
    const int n = p.input.size(), n_past = narrow<int>(p.n_past);
    if (!rope.dims) return {};
    if (p.positions().own()) return make_rope_table(rope, n, n_past, n - n_past);
    const RopeTable all = make_rope_table(rope, n, 0, n);
    const std::vector<int> at = p.new_positions();
    return {all.cosine(at, Eigen::all), all.sine(at, Eigen::all)};
}

void append_below(Matrix& all, Matrix more) {
    if (all.rows() == 0) {
        all = std::move(more);
        return;
    }
    all.conservativeResize(all.rows() + more.rows(), more.cols());
    all.bottomRows(more.rows()) = more;
}

/// Adds to the batch the passes that enter at layer l: an earlier pass supplied all layers before it.
void enter_layer(Batch& b, std::span<const Pass> passes, int l, Matrix& resid) {
    for (const Pass& p : passes) {
        if (p.layers_past != l) continue;
        HEADLIGHT_CHECK(l == 0 || p.source.rows() == 0);
        if (l) p.out->layers.assign(p.past->layers.begin(), p.past->layers.begin() + l);
        const bool streams = p.stack.streams.has_value();
        Matrix entering;
        if (l)
            entering = (streams ? p.past->layers[l]->streams : p.past->layers[l]->entering()).all();
        else
            entering = p.embeddings ? *p.embeddings : embed(p);
        check_finite(p, -1, "embeddings", all_finite(entering));
        if (l)
            p.out->layer_embeddings = p.past->layer_embeddings;
        else if (p.weights.layer_table)
            p.out->layer_embeddings = append_rows(p.n_past ? &p.past->layer_embeddings : nullptr, p.n_past,
                                                  layer_embeddings(p, entering));
        if (l == 0 && streams) entering = enter_streams(p, entering);
        b.passes.push_back({p, RopeTables(p), resid.rows(), entering.rows()});
        append_below(resid, std::move(entering));
        if (p.source.rows()) append_below(b.sources, p.source);
    }
    for (PassInBatch& p : b.passes) {
        p.layer = std::make_shared<LayerActivations>();
        p.layer->self.rule = p.pass.rules[l].self;
        p.layer->second.rule = p.pass.rules[l].second;
        p.layer->changed = p.pass.rules[l].changed;
    }
}

/// Keeps the streams of each pass as the last layer leaves them; returns what is left of them.
Matrix leave_streams_of_passes(const Batch& b, Matrix streams) {
    Matrix left = leave_streams(b, streams);
    std::vector<Matrix> own = b.split_by_pass(std::move(streams));
    for (size_t i = 0; i < own.size(); ++i) {
        const Pass& p = b.passes[i].pass;
        p.out->streams = append_rows(p.n_past ? &p.past->streams : nullptr, p.n_past, std::move(own[i]));
    }
    return left;
}

/// Stores the last layer's output and its final norm.
void leave_stack(const Batch& b, Matrix resid) {
    if (b.stack.streams) resid = leave_streams_of_passes(b, std::move(resid));
    Matrix normalized = b.weights.final_norm ? b.norm(b.weights.final_norm, resid) : resid;
    check_finite(b, -1, "final norm's outputs", all_finite(normalized));
    std::vector<Matrix> normal = b.split_by_pass(std::move(normalized)),
                        final = b.split_by_pass(std::move(resid));
    for (size_t i = 0; i < normal.size(); ++i) {
        const Pass& p = b.passes[i].pass;
        const StackActivations* past = p.n_past ? p.past : nullptr;
        p.out->normalized = append_rows(past ? &past->normalized : nullptr, p.n_past, std::move(normal[i]));
        p.out->resid_final = append_rows(past ? &past->resid_final : nullptr, p.n_past, std::move(final[i]));
    }
}

void run_stack(const StackRun& run, std::span<const Pass> passes) {
    Batch b{run};
    Matrix resid;
    b.sources.resize(0, run.config().d_model);
    for (int l = 0; l < run.stack.depth(); ++l) {
        enter_layer(b, passes, l, resid);
        if (b.passes.empty()) continue;
        run.pool.stop_point();
        resid = run_layer(b, l, std::move(resid));
        for (PassInBatch& p : b.passes) p.pass.out->layers.push_back(std::move(p.layer));
    }
    if (!b.passes.empty()) leave_stack(b, std::move(resid));
}

/// Prepares one pass over stack s, after the stacks before it.
Pass pass_over(const StackRun& run, size_t s, const PassRequest& request, const Activations& before) {
    const StackActivations* const past = request.reuse.past ? request.reuse.past->stacks[s].get() : nullptr;
    const StackReuse reused = past ? request.reuse.stacks[s] : StackReuse{};
    const Sequence& input = request.inputs[s];
    HEADLIGHT_CHECK(input.size() > 0 && (input.types.empty() || input.types.size() == input.ids.size()));
    HEADLIGHT_CHECK(reused.rows >= 0 && reused.rows <= input.size() && reused.layers >= 0 &&
                    reused.layers < run.stack.depth() && (!reused.rows || !reused.layers));
    Pass pass{run, input};
    pass.past = past;
    pass.n_past = reused.rows;
    pass.layers_past = reused.layers;
    pass.rules = request.rules[s];
    pass.observer = request.observer;
    if (!request.embeddings.empty()) {
        HEADLIGHT_CHECK(!past && request.embeddings.size() == request.inputs.size() &&
                        request.embeddings[s].rows() == input.size() &&
                        request.embeddings[s].cols() == run.config().d_model);
        pass.embeddings = &request.embeddings[s];
    }
    if (run.stack.cross()) {
        const auto& source = before.stacks[run.stack.source];
        pass.source_past = past && source == request.reuse.past->stacks[run.stack.source];
        if (!pass.source_past) pass.source = source->normalized.all();
    }
    return pass;
}

/// Runs the stacks in order; throws on failure.
std::vector<Activations> run_stacks(const Model& model, std::span<const PassRequest> requests,
                                    ThreadPool& pool) {
    const size_t stacks = model.config.stacks.size();
    HEADLIGHT_CHECK(model.weights.stacks.size() == stacks);
    std::vector<Activations> out(requests.size());
    for (size_t s = 0; s < stacks; ++s) {
        const StackRun run{model, model.config.stacks[s], model.weights.stacks[s], pool};
        std::vector<Pass> passes;
        for (size_t i = 0; i < requests.size(); ++i) {
            const PassRequest& r = requests[i];
            HEADLIGHT_CHECK(&r.inputs.model() == &model && r.inputs.size() == stacks &&
                            r.rules.size() == stacks);
            const bool whole = r.reuse.past && r.reuse.stacks[s].whole;
            if (!whole) passes.push_back(pass_over(run, s, r, out[i]));
            out[i].stacks.push_back(whole ? r.reuse.past->stacks[s] : passes.back().out);
        }
        run_stack(run, passes);
    }
    return out;
}

}  // namespace

RopeTables::RopeTables(const Pass& p) {
    const std::vector<LayerSpec>& layers = p.stack.layers;
    for (int l = 0; l < isize(layers); ++l) {
        const Rope& rope = layers[l].attention.rope;
        int same = 0;
        while (layers[same].attention.rope != rope) ++same;
        table_of_.push_back(same < l ? table_of_[same] : tables_.size());
        if (same == l) tables_.push_back(rope_table_of(p, rope));
    }
}

Rows LayerActivations::entering() const {
    if (replaced.empty()) return resid_pre;
    Matrix out = resid_pre.all();
    replaced.put_back(out);
    return out;
}

Eigen::Map<const Eigen::RowVectorXf> LayerActivations::entering_row(Index row) const {
    const auto found = std::lower_bound(replaced.at.begin(), replaced.at.end(), row);
    if (found == replaced.at.end() || *found != row) return resid_pre.row(row);
    return {replaced.rows.row(found - replaced.at.begin()).data(), replaced.rows.cols()};
}

Rows StackActivations::embeddings() const {
    const LayerActivations& first = *layers.front();
    return first.streams.size() ? first.streams.columns(0, first.resid_pre.cols()) : first.entering();
}

LayerRules LayerActivations::rules() const { return {self.rule, second.rule, changed}; }

Result<std::vector<Activations>> forward(const Model& model, std::span<const PassRequest> requests,
                                         ThreadPool& pool, const CancelFlag* cancel) {
    return guarded([&]() -> Result<std::vector<Activations>> {
        const CancelScope scope(pool, cancel);
        std::vector<Activations> out = run_stacks(model, requests, pool);
        if (model.packed) model.packed->start();  // after the first pass, so that it need not wait
        return out;
    });
}

std::vector<Matrix> mean_embeddings(const Model& model, std::span<const Sequence> inputs,
                                    std::span<const std::vector<LayerRules>> rules, ThreadPool& pool) {
    std::vector<Matrix> out;
    for (size_t s = 0; s < inputs.size(); ++s) {
        Pass pass{{model, model.config.stacks[s], model.weights.stacks[s], pool}, inputs[s]};
        pass.rules = rules[s];
        out.push_back(embed_mean(pass));
    }
    return out;
}

}  // namespace headlight
