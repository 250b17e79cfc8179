#include "analysis/influence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/cast.h"
#include "base/check.h"
#include "base/draws.h"

namespace headlight {

std::span<const InfluenceMethodRow> influence_methods() {
    static constexpr std::array<InfluenceMethodRow, 6> kMethods{{
        {InfluenceMethod::gradient, "jacobian", "gradient",
         "length of the metric's gradient by the token's embedding", true},
        {InfluenceMethod::input_x_gradient, "input-x-gradient", nullptr, "embedding times that gradient",
         true},
        {InfluenceMethod::integrated_gradients, "integrated-gradients", nullptr,
         "the same along the way from a baseline; they sum to the metric's change", true},
        {InfluenceMethod::contribution, "contribution", nullptr,
         "lengths of what attention moves (α‖v W_O‖) against the residual, through all layers", false},
        {InfluenceMethod::relevance, "relevance", nullptr, "patterns weighted by the metric's gradients",
         true},
        {InfluenceMethod::rollout, "rollout", nullptr, "mean patterns, through all layers", false},
    }};
    return kMethods;
}

float Influence::gap() const {
    const float change = value - baseline_value;
    return change == 0 ? std::numeric_limits<float>::quiet_NaN() : std::abs(sum - change) / std::abs(change);
}

std::vector<std::pair<double, double>> gauss_legendre(int points) {
    HEADLIGHT_CHECK(points > 0);
    std::vector<std::pair<double, double>> out;
    for (int i = 0; i < points; ++i) {
        double x = std::cos(M_PI * (i + 0.75) / (points + 0.5)), slope = 1;
        for (int turn = 0; turn < 100; ++turn) {  // Newton's, on the Legendre polynomial
            double p = 1, before = 0;
            for (int k = 1; k <= points; ++k)
                before = std::exchange(p, ((2 * k - 1) * x * p - (k - 1) * before) / k);
            slope = points * (x * p - before) / (x * x - 1);
            const double step = p / slope;
            x -= step;
            if (std::abs(step) < 1e-15) break;
        }
        out.emplace_back((1 - x) / 2, 1 / ((1 - x * x) * slope * slope));
    }
    return out;
}

Result<GradientSeed> metric_seed(const Metric& metric, const Trace& trace, const Trace* own,
                                 ThreadPool& pool) {
    if (metric.kind == MetricKind::divergence && !own)
        return Error{
            "No interventions: the divergence from the unchanged run is 0, and so are its gradients; choose "
            "another metric, or change something."};
    const Vector logits = logits_at(trace, metric.position, pool);
    const bool needs_both = metric.kind == MetricKind::divergence;
    const Vector gradient =
        metric_gradient(metric, logits, needs_both ? logits_at(*own, metric.position, pool) : logits);
    return logits_seed(*trace.model, trace.activations, metric.position, gradient, pool);
}

namespace {

/// [n, d_model] of each stack: the gradient of the metric by the embeddings.
Result<std::vector<Matrix>> by_embeddings(const Metric& metric, const Trace& trace, const Trace* own,
                                          ThreadPool& pool, const CancelFlag* cancel) {
    TRY(const GradientSeed seed, metric_seed(metric, trace, own, pool));
    TRY(Gradients gradients, backward(trace, {&seed, 1}, pool, cancel));
    std::vector<Matrix> out;
    for (StackGradients& stack : gradients.stacks) out.push_back(std::move(stack.resid.front()));
    return out;
}

/// x · y, row by row, of each stack.
std::vector<Vector> row_products(const std::vector<Matrix>& x, const std::vector<Matrix>& y) {
    std::vector<Vector> out;
    for (size_t s = 0; s < x.size(); ++s) out.push_back(x[s].cwiseProduct(y[s]).rowwise().sum());
    return out;
}

std::string counted_tokens(int count) { return std::to_string(count) + (count == 1 ? " token" : " tokens"); }

Result<std::vector<Matrix>> baseline_of(const InfluenceRuns& runs, InfluenceBaseline baseline,
                                        ThreadPool& pool) {
    if (baseline == InfluenceBaseline::mean) return mean_embeddings_of(runs.trace, pool);
    std::vector<Matrix> out = embeddings_of(runs.trace);
    if (baseline == InfluenceBaseline::zero) {
        for (Matrix& stack : out) stack.setZero();
        return out;
    }
    HEADLIGHT_CHECK(runs.prompt && runs.prompt->model == runs.trace.model);
    std::vector<Matrix> other = embeddings_of(*runs.prompt);
    for (size_t s = 0; s < out.size(); ++s)
        if (other[s].rows() != out[s].rows())
            return Error{"The baseline has " + counted_tokens(narrow<int>(other[s].rows())) +
                         ", but the text has " + counted_tokens(narrow<int>(out[s].rows())) +
                         ": integrated gradients go from one to the other token by token; give a prompt of "
                         "equal length."};
    return other;
}

/// The gradients' mean along the line from the baseline, times the way; the metric where it begins.
Status integrate(const InfluenceRuns& runs, const InfluenceWanted& wanted, Influence& out, ThreadPool& pool,
                 const CancelFlag* cancel, const InfluenceStep& step) {
    TRY(const std::vector<Matrix> from, baseline_of(runs, wanted.baseline, pool));
    std::vector<Matrix> way = embeddings_of(runs.trace), sum;
    for (size_t s = 0; s < way.size(); ++s) {
        way[s] -= from[s];
        sum.push_back(Matrix::Zero(way[s].rows(), way[s].cols()));
    }
    const Trace& unchanged = runs.own ? *runs.own : runs.trace;
    TRY(const auto begin, run_embeddings(runs.trace, from, pool, cancel));
    out.baseline_value = evaluate(out.metric, *begin, unchanged, pool).value;
    for (const auto& [at, weight] : gauss_legendre(wanted.steps)) {
        std::vector<Matrix> there = from;
        for (size_t s = 0; s < way.size(); ++s) there[s] += float(at) * way[s];
        TRY(const auto trace, run_embeddings(runs.trace, there, pool, cancel));
        TRY(const auto gradient, by_embeddings(out.metric, *trace, runs.own, pool, cancel));
        for (size_t s = 0; s < way.size(); ++s) sum[s] += float(weight) * gradient[s];
        if (step) step();
    }
    out.tokens = row_products(way, sum);
    return success();
}

/// What the metric's value rests on.
Status explain(const InfluenceRuns& runs, const InfluenceWanted& wanted, Influence& out, ThreadPool& pool,
               const CancelFlag* cancel, const InfluenceStep& step) {
    if (wanted.method == InfluenceMethod::integrated_gradients)
        return integrate(runs, wanted, out, pool, cancel, step);
    if (wanted.method == InfluenceMethod::relevance) {
        TRY(const GradientSeed seed, metric_seed(out.metric, runs.trace, runs.own, pool));
        TRY(out.tokens, relevance_paths(runs.trace, out.metric.position, seed, pool, cancel));
        return success();
    }
    TRY(const auto gradient, by_embeddings(out.metric, runs.trace, runs.own, pool, cancel));
    if (wanted.method == InfluenceMethod::input_x_gradient)
        out.tokens = row_products(embeddings_of(runs.trace), gradient);
    else
        for (const Matrix& stack : gradient) out.tokens.push_back(stack.rowwise().norm());
    return success();
}

/// The metric that is explained, or where the row stands that is.
Result<Metric> resolved_for(const InfluenceRuns& runs, const InfluenceWanted& wanted, ThreadPool& pool) {
    const Trace& own = runs.own ? *runs.own : runs.trace;
    const bool of_metric = row_of(influence_methods(), wanted.method).of_metric;
    if (of_metric || own.model->has_logits()) return resolved(wanted.metric, own, pool);
    Metric out = wanted.metric;
    if (out.position < 0) out.position = own.output().size() - 1;
    return out;
}

}  // namespace

Result<Influence> influence(const InfluenceRuns& runs, const InfluenceWanted& wanted, ThreadPool& pool,
                            const CancelFlag* cancel, const InfluenceStep& step) {
    const Trace& trace = runs.trace;
    if (!trace.has_weights())
        return Error{"A trace holds no weights, so nothing can be followed back in it; open the model."};
    Influence out;
    TRY(out.metric, resolved_for(runs, wanted, pool));
    if (trace.model->has_logits())
        out.value = evaluate(out.metric, trace, runs.own ? *runs.own : trace, pool).value;
    if (wanted.method == InfluenceMethod::contribution) {
        TRY(out.tokens, contribution_paths(trace, out.metric.position, pool, cancel));
    } else if (wanted.method == InfluenceMethod::rollout) {
        TRY(out.tokens, rollout_paths(trace, out.metric.position, pool, cancel));
    } else {
        TRY_STATUS(explain(runs, wanted, out, pool, cancel, step));
    }
    for (const Vector& stack : out.tokens) out.sum += stack.sum();
    return out;
}

namespace {

/// Rows [count, d_model] that go back from one output: all units of its width, or ±1 at random.
Matrix probes_of(const Trace& trace, int output, int probes) {
    const Index d = trace.config().d_model;
    if (probes == 0) return Matrix::Identity(d, d);
    Draws draws(static_cast<uint32_t>(output) + 1);
    Matrix out(probes, d);
    for (Index i = 0; i < out.size(); ++i) out.data()[i] = draws.below(2) ? 1.0f : -1.0f;
    return out;
}

/// [count, tokens of all stacks]: the squared length of each probe's gradient by each embedding.
Result<DoubleMatrix> squared_lengths(const Trace& trace, int output, const Matrix& probes, ThreadPool& pool,
                                     const CancelFlag* cancel) {
    constexpr int kTogether = 32;
    const int last = isize(trace.config().stacks) - 1, count = narrow<int>(probes.rows());
    Index tokens = 0;
    for (const Sequence& s : trace.request.inputs) tokens += s.size();
    DoubleMatrix out(count, tokens);
    for (int first = 0; first < count; first += kTogether) {
        std::vector<GradientSeed> seeds;
        for (int i = first; i < std::min(count, first + kTogether); ++i)
            seeds.push_back({last, trace.config().stacks[last].layers, output, probes.row(i), i - first});
        TRY(const Gradients g, backward(trace, seeds, pool, cancel));
        Index column = 0;
        for (size_t s = 0; s < g.stacks.size(); ++s) {
            const Index n = trace.request.inputs[s].size();
            for (int i = 0; i < isize(seeds); ++i)
                out.block(first + i, column, 1, n) = g.stacks[s]
                                                         .resid[0]
                                                         .middleRows(i * n, n)
                                                         .rowwise()
                                                         .squaredNorm()
                                                         .transpose()
                                                         .cast<double>();
            column += n;
        }
    }
    return out;
}

}  // namespace

Result<JacobianNorms> jacobian_norms(const Trace& trace, int probes, ThreadPool& pool,
                                     const CancelFlag* cancel, const InfluenceStep& step) {
    JacobianNorms out;
    const int n = trace.output().size();
    for (int output = 0; output < n; ++output) {
        TRY(const DoubleMatrix squares,
            squared_lengths(trace, output, probes_of(trace, output, probes), pool, cancel));
        out.norms.conservativeResize(n, squares.cols());
        if (probes > 1) out.standard_error.conservativeResize(n, squares.cols());
        for (Index j = 0; j < squares.cols(); ++j) {
            const auto column = squares.col(j).array();
            const double norm = std::sqrt(probes ? column.mean() : column.sum());
            out.norms(output, j) = float(norm);
            if (probes < 2) continue;
            const double spread = std::sqrt((column - column.mean()).square().sum() / (probes - 1) / probes);
            out.standard_error(output, j) = norm > 0 ? float(spread / (2 * norm)) : 0.0f;  // of the root
        }
        if (step) step();
    }
    return out;
}

}  // namespace headlight
