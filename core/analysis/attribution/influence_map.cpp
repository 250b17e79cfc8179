// Computes maps of influence, some rows at a time.
#include "analysis/attribution/influence_map.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cast.h"
#include "base/check.h"
#include "base/pace.h"

namespace headlight {

void InfluenceMapRequest::clamp_to(const Trace& t) {
    stack = nearest_stack(t, stack);
    const int layers = t.config().stacks[stack].depth();
    if (of != InfluenceOf::hidden) {
        layer = -1;
        probes = 0;
    } else {
        metric = {};
        layer = layer < 0 ? layers - 1 : nearest(layer, layers);
    }
}

int probes_by_cost(const Trace& t, const InfluenceMapRequest& request) {
    constexpr double kExactProducts = 1e12;
    constexpr int kProbes = 8;
    const int depth = t.config().stacks[request.stack].depth();
    const double d = t.config().d_model, n = t.request.inputs[request.stack].size(),
                 of_token = t.config().products(request.stack, request.layer < 0 ? depth : request.layer + 1);
    return n * d * n * of_token <= kExactProducts ? 0 : kProbes;
}

namespace {

Result<InfluenceMap> empty_map(const InfluenceRuns& runs, const InfluenceMapRequest& request) {
    const Trace& trace = runs.trace;
    const Index outputs = trace.request.inputs[request.stack].size(), tokens = trace.token_count();
    TRY_STATUS(check_followed_back(trace));
    if (tokens > kMaxInfluenceTokens)
        return Error{"Every output's answer to every token is measured for at most " +
                     std::to_string(kMaxInfluenceTokens) + " tokens, and there are " +
                     std::to_string(tokens) + "; shorten the text."};
    InfluenceMap out{request, Matrix::Constant(outputs, tokens, std::numeric_limits<float>::quiet_NaN()), {}};
    if (request.of == InfluenceOf::hidden && request.probes == InfluenceMapRequest::kChosenByCost)
        out.asked.probes = probes_by_cost(trace, request);
    if (out.asked.probes > 1) out.standard_error = out.norms;
    return out;
}

/// Makes seeds of the metric at each of some rows from `first` on.
Result<std::vector<GradientSeed>> metric_seeds(const InfluenceRuns& runs, Metric metric, int first, int count,
                                               ThreadPool& pool) {
    std::vector<GradientSeed> out;
    for (int i = 0; i < count; ++i) {
        metric.position = first + i;
        TRY(const Metric own, resolved(metric, runs.own ? *runs.own : runs.trace, pool));
        TRY(GradientSeed seed, metric_seed(own, runs.trace, runs.own, pool));
        seed.output = i;
        out.push_back(std::move(seed));
    }
    return out;
}

/// Measures the lengths of the metric's gradients, or its relevance, at some rows, propagated together.
Status measure_metric(const InfluenceRuns& runs, InfluenceMap& map, int first, int count, ThreadPool& pool,
                      const CancelFlag* cancel) {
    const Trace& trace = runs.trace;
    TRY(std::vector<GradientSeed> seeds, metric_seeds(runs, map.asked.metric, first, count, pool));
    if (map.asked.of == InfluenceOf::relevance) {
        std::vector<int> positions;
        for (const GradientSeed& seed : seeds) positions.push_back(seed.row);
        TRY(map.norms.middleRows(first, count),
            relevance_paths(trace, positions, std::move(seeds), pool, cancel));
        return success();
    }
    TRY(const auto gradients, embedding_gradients(trace, seeds, pool, cancel));
    for (int s = 0; s < isize(gradients); ++s)
        for (int i = 0; i < count; ++i) {
            const Vector squares = gradients[s].squared_lengths(i);
            map.norms.row(first + i).segment(trace.first_token(s), squares.size()) =
                squares.cwiseSqrt().transpose();
        }
    return success();
}

Status measure_hidden(const Trace& trace, InfluenceMap& map, int first, int count, ThreadPool& pool,
                      const CancelFlag* cancel) {
    TRY(const JacobianNorms found, jacobian_rows(trace, {map.asked.stack, map.asked.layer}, first, count,
                                                 map.asked.probes, pool, cancel));
    map.norms.middleRows(first, count) = found.norms;
    if (found.standard_error.size()) map.standard_error.middleRows(first, count) = found.standard_error;
    return success();
}

}  // namespace

Result<InfluenceMap> influence_map(const InfluenceRuns& runs, const InfluenceMapRequest& request,
                                   ThreadPool& pool, const CancelFlag* cancel,
                                   const std::function<void(const InfluenceMap&)>& seen) {
    return guarded([&]() -> Result<InfluenceMap> {
        const CancelScope scope(pool, cancel);
        InfluenceMapRequest fitting = request;
        fitting.clamp_to(runs.trace);
        TRY(InfluenceMap out, empty_map(runs, fitting));
        const bool of_metric = fitting.of != InfluenceOf::hidden;
        if (of_metric && fitting.stack + 1 != isize(runs.trace.config().stacks))
            return Error{"The metric is taken in the decoder; choose one of its heads, or a hidden state."};
        const int rows = narrow<int>(out.norms.rows()),
                  together = of_metric ? gradients_together(runs.trace)
                                       : outputs_together(runs.trace, out.asked.probes);
        while (!out.whole()) {
            const int count = std::min(together, rows - out.done);
            TRY_STATUS(of_metric ? measure_metric(runs, out, out.done, count, pool, cancel)
                                 : measure_hidden(runs.trace, out, out.done, count, pool, cancel));
            out.done += count;
            if (seen) seen(out);
        }
        return out;
    });
}

Result<InfluenceMapFound> measure_influence_map(const Runs& runs, const InfluenceMapRequest& request,
                                                ThreadPool& pool, const CancelFlag* cancel,
                                                const std::function<void(InfluenceMapFound)>& seen) {
    Pace pace;
    TRY(InfluenceMap map,
        influence_map(influence_runs(runs), request, pool, cancel, [&](const InfluenceMap& now) {
            if (seen && pace.is_due()) seen({std::make_shared<const InfluenceMap>(now), ""});
        }));
    return InfluenceMapFound{std::make_shared<const InfluenceMap>(std::move(map)), ""};
}

Result<TokenScores> token_scores(const InfluenceRuns& runs, const InfluenceRequest& request, ThreadPool& pool,
                                 const CancelFlag* cancel, const std::function<void(TokenScores)>& seen) {
    if (request.needs_prompt() && (!runs.prompt || runs.prompt->model != runs.trace.model))
        return Error{request.method == InfluenceMethod::attribution_patching
                         ? "Type the clean text: another text with the same number of tokens, whose "
                           "residual stream is patched into this one."
                         : "Type the baseline: another text with the same number of tokens."};
    TokenScores now;
    if (request.method == InfluenceMethod::integrated_gradients)
        now.steps =
            request.steps > 0
                ? request.steps
                : budget_of(runs.trace.config(), narrow<int>(runs.trace.token_count()), request.steps).points;
    const auto step = [&](const Influence* known) {
        if (known) {
            now.found = std::make_shared<const Influence>(*known);
            now.done = known->passes;
            now.steps = known->all_passes;
        } else {
            ++now.done;
        }
        if (seen) seen(now);
    };
    TRY(Influence found, influence(runs, request, pool, cancel, step));
    const int passes = found.passes;
    return TokenScores{std::make_shared<const Influence>(std::move(found)), "", passes, passes, true};
}

}  // namespace headlight
