#include "analysis/influence_map.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cast.h"

namespace headlight {

void InfluenceMapWanted::fit(const Trace& t) {
    stack = nearest_stack(t, stack);
    const int layers = t.config().stacks[stack].layers;
    if (of == InfluenceOf::metric) {
        layer = -1;
        probes = 0;
    } else {
        metric = {};
        layer = layer < 0 ? layers - 1 : nearest(layer, layers);
    }
}

int probes_by_cost(const Trace& t, const InfluenceMapWanted& wanted) {
    constexpr double kExactProducts = 1e12;
    constexpr int kProbes = 8;
    const StackConfig& s = t.config().stacks[wanted.stack];
    const double d = t.config().d_model, n = t.request.inputs[wanted.stack].size(),
                 layers = wanted.layer < 0 ? s.layers : wanted.layer + 1,
                 of_token = 2 * d * (double(s.heads + s.kv_heads) * s.d_head + s.d_mlp);
    return n * d * n * layers * of_token <= kExactProducts ? 0 : kProbes;
}

namespace {

Index token_count(const Trace& trace) {
    Index out = 0;
    for (const Sequence& s : trace.request.inputs) out += s.size();
    return out;
}

Result<InfluenceMap> empty_map(const InfluenceRuns& runs, const InfluenceMapWanted& wanted) {
    const Trace& trace = runs.trace;
    const Index outputs = trace.request.inputs[wanted.stack].size(), tokens = token_count(trace);
    if (!trace.has_weights())
        return Error{"A trace holds no weights, so nothing can be followed back in it; open the model."};
    if (tokens > kMaxInfluenceTokens)
        return Error{"Every output's answer to every token is measured for at most " +
                     std::to_string(kMaxInfluenceTokens) + " tokens, and there are " +
                     std::to_string(tokens) + "; shorten the text."};
    InfluenceMap out{wanted, Matrix::Constant(outputs, tokens, std::numeric_limits<float>::quiet_NaN()), {}};
    if (wanted.of == InfluenceOf::hidden && wanted.probes == InfluenceMapWanted::kChosenByCost)
        out.asked.probes = probes_by_cost(trace, wanted);
    if (out.asked.probes > 1) out.standard_error = out.norms;
    return out;
}

/// Lengths of the metric's gradients, taken at so many rows from `first` on, which go back together.
Status measure_metric(const InfluenceRuns& runs, InfluenceMap& map, int first, int count, ThreadPool& pool,
                      const CancelFlag* cancel) {
    const Trace& own = runs.own ? *runs.own : runs.trace;
    std::vector<GradientSeed> seeds;
    for (int i = 0; i < count; ++i) {
        Metric metric = map.asked.metric;
        metric.position = first + i;
        TRY(metric, resolved(metric, own, pool));
        TRY(GradientSeed seed, metric_seed(metric, runs.trace, runs.own, pool));
        seed.number = i;
        seeds.push_back(std::move(seed));
    }
    TRY(const Gradients gradients, backward(runs.trace, seeds, pool, cancel));
    Index column = 0;
    for (size_t s = 0; s < gradients.stacks.size(); ++s) {
        const Index n = runs.trace.request.inputs[s].size();
        for (int i = 0; i < count; ++i)
            map.norms.block(first + i, column, 1, n) =
                gradients.stacks[s].resid.front().middleRows(i * n, n).rowwise().norm().transpose();
        column += n;
    }
    return success();
}

Status measure_row(const Trace& trace, InfluenceMap& map, int row, ThreadPool& pool,
                   const CancelFlag* cancel) {
    TRY(const JacobianNorms found,
        jacobian_row(trace, {map.asked.stack, map.asked.layer}, row, map.asked.probes, pool, cancel));
    map.norms.row(row) = found.norms;
    if (found.standard_error.size()) map.standard_error.row(row) = found.standard_error;
    return success();
}

}  // namespace

Result<InfluenceMap> influence_map(const InfluenceRuns& runs, const InfluenceMapWanted& wanted,
                                   ThreadPool& pool, const CancelFlag* cancel,
                                   const std::function<void(const InfluenceMap&)>& seen) {
    const int together = passes_together(runs.trace, 16);  // gradients of all layers are held for each
    InfluenceMapWanted fitting = wanted;
    fitting.fit(runs.trace);
    TRY(InfluenceMap out, empty_map(runs, fitting));
    const bool of_metric = fitting.of == InfluenceOf::metric;
    if (of_metric && fitting.stack + 1 != isize(runs.trace.config().stacks))
        return Error{"The metric is taken in the decoder; choose one of its heads, or a hidden state."};
    while (!out.whole()) {
        const int count = of_metric ? std::min(together, narrow<int>(out.norms.rows()) - out.done) : 1;
        if (of_metric) {
            TRY_STATUS(measure_metric(runs, out, out.done, count, pool, cancel));
        } else {
            TRY_STATUS(measure_row(runs.trace, out, out.done, pool, cancel));
        }
        out.done += count;
        if (seen) seen(out);
    }
    return out;
}

namespace {

/// What cannot be is said, and is no failure.
template <class T, class Made>
Result<T> or_refusal(Result<Made> made, const std::function<T(Made)>& taken) {
    if (made) return taken(*std::move(made));
    if (made.error().cancelled) return made.error();
    T refused;
    refused.refusal = made.error().message;
    return refused;
}

}  // namespace

Result<InfluenceMapFound> answer(const Runs& runs, const InfluenceMapWanted& wanted, ThreadPool& pool,
                                 const CancelFlag* cancel) {
    return or_refusal<InfluenceMapFound, InfluenceMap>(
        influence_map(influence_runs(runs), wanted, pool, cancel), [](InfluenceMap map) {
            return InfluenceMapFound{std::make_shared<const InfluenceMap>(std::move(map)), ""};
        });
}

Result<TokenScores> token_scores(const InfluenceRuns& runs, const TokenScoresWanted& wanted, ThreadPool& pool,
                                 const CancelFlag* cancel,
                                 const std::function<void(const TokenScores&)>& seen) {
    const bool from_prompt = wanted.how.method == InfluenceMethod::integrated_gradients &&
                             wanted.how.baseline == InfluenceBaseline::prompt;
    if (from_prompt && (!runs.prompt || runs.prompt->model != runs.trace.model))
        return TokenScores{nullptr, "Type the baseline: another text of as many tokens."};
    TokenScores now;
    if (wanted.how.method == InfluenceMethod::integrated_gradients) now.steps = wanted.how.steps;
    const auto step = [&] {
        ++now.done;
        if (seen) seen(now);
    };
    return or_refusal<TokenScores, Influence>(
        influence(runs, wanted.how, pool, cancel, step), [&](Influence found) {
            return TokenScores{std::make_shared<const Influence>(std::move(found)), "", now.steps, now.steps};
        });
}

Result<TokenScores> answer(const Runs& runs, const TokenScoresWanted& wanted, ThreadPool& pool,
                           const CancelFlag* cancel) {
    return token_scores(influence_runs(runs), wanted, pool, cancel);
}

}  // namespace headlight
