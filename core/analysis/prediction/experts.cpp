#include "analysis/prediction/experts.h"

#include <algorithm>
#include <cmath>

#include "analysis/attribution/stream_parts.h"
#include "analysis/circuits/direct.h"
#include "analysis/prediction/predict.h"

namespace headlight {

namespace {

/// Reads a layer's router for some tokens of the stack that predicts.
struct RouterRows {
    RouterRows(const Trace& trace, int layer, int first, int rows, ThreadPool& pool)
        : run{*trace.model, trace.config().stacks.back(), trace.model->weights.stacks.back(), pool},
          spec(*run.stack.layers[layer].mlp.experts),
          weights(run.weights.layers[layer]),
          reads(trace.mlp_input(isize(trace.config().stacks) - 1, layer, first, rows, pool)) {}
    std::vector<std::vector<ExpertChoice>> routes() const { return route(run, spec, weights, reads); }
    std::vector<float> shares() const { return router_shares(run, spec, weights, reads); }

    StackRun run;
    const ExpertsSpec& spec;
    const LayerWeights& weights;
    Matrix reads;
};

/// Splits the logit of a token into what each expert adds at a position, and the rest.
void split_logit(const Trace& trace, const DirectPath& path, int position, Experts& out, ThreadPool& pool) {
    const ModelConfig& c = trace.config();
    const StreamParts stream = parts_left(trace, isize(c.stacks) - 1, position, pool);
    const Vector logits = path.logit(stream.rows, out.token);
    out.logit = path.norm_bias(out.token) + path.unembedding_bias(out.token) + logits.sum();
    out.others = out.logit;
    for (int i = 0; i < isize(stream.parts); ++i) {
        const StreamPart& part = stream.parts[i];
        if (part.kind != StreamPart::Kind::expert) continue;
        const auto same = std::find_if(out.shares.begin(), out.shares.end(), [&](const ExpertShare& share) {
            return share.layer == c.block(part.block).layer && share.expert == part.head;
        });
        if (same == out.shares.end()) continue;  // rounding broke a near tie the other way: one of `others`
        same->logit = logits[i];
        out.others -= logits[i];
    }
}

}  // namespace

std::vector<int> layers_with_experts(const ModelConfig& c) {
    std::vector<int> out;
    for (int l = 0; l < c.stacks.back().depth(); ++l)
        if (c.stacks.back().layers[l].mlp.experts) out.push_back(l);
    return out;
}

Result<ExpertRoutes> answer_expert_routes(const Trace& trace, const ExpertRoutesRequest&, ThreadPool& pool,
                                          const CancelFlag* cancel) {
    trace.weights(0);  // fails if the trace holds none
    const CancelScope scope(pool, cancel);
    ExpertRoutes out{layers_with_experts(trace.config()), {}};
    for (const int layer : out.layers) {
        if (stopped(cancel)) return cancelled();
        out.chosen.push_back(RouterRows(trace, layer, 0, trace.output().size(), pool).routes());
    }
    return out;
}

Result<Experts> answer_experts(const Trace& trace, const ExpertsRequest& w, ThreadPool& pool,
                               const CancelFlag* cancel) {
    trace.weights(0);  // fails if the trace holds none
    const CancelScope scope(pool, cancel);
    Experts out;
    for (const int layer : layers_with_experts(trace.config())) {
        if (stopped(cancel)) return cancelled();
        const RouterRows router(trace, layer, w.position, 1, pool);
        if (layer == w.layer) out.router = router.shares();
        const LayerChanges& changed = trace.activations.stacks.back()->layers[layer]->changed;
        const bool none = changed.no_mlp || changed.mlp_out.gives(w.position);
        const auto routes = router.routes();
        for (const ExpertChoice& c : routes.front())
            out.shares.push_back(
                {layer, c.expert, c.weight, 0, none || contains(changed.experts_off, c.expert)});
    }
    if (!trace.model->has_logits()) return out;
    const auto path = DirectPath::at(trace, w.position);
    if (!path) return out;
    const Vector logits = logits_at(trace, w.position, pool);
    out.token = w.token >= 0 && w.token < logits.size() ? w.token : ranked_ids(logits, 1)[0];
    split_logit(trace, *path, w.position, out, pool);
    std::stable_sort(out.shares.begin(), out.shares.end(), [](const ExpertShare& a, const ExpertShare& b) {
        return std::abs(a.logit) > std::abs(b.logit);
    });
    return out;
}

void ExpertsRequest::clamp_to(const Trace& t) {
    position = nearest(position, t.output().size());
    const std::vector<int> layers = layers_with_experts(t.config());
    if (!layers.empty() && !contains(layers, layer)) layer = layers.front();
}

}  // namespace headlight
