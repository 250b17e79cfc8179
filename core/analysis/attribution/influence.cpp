// Attributes a metric to input tokens by several methods.
#include "analysis/attribution/influence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "analysis/attribution/engine_gradients.h"
#include "analysis/patching/patch_estimate.h"
#include "analysis/prediction/default_place.h"
#include "base/cast.h"
#include "base/check.h"
#include "base/quoted.h"

namespace headlight {

std::span<const InfluenceMethodRow> influence_methods() {
    static constexpr std::array<InfluenceMethodRow, 8> kMethods{{
        {InfluenceMethod::leave_out, "leave-out", "leave it out",
         "the token is deleted and the rest run again: how far the metric falls", true, true,
         "each word alone, so the sum is no test"},
        {InfluenceMethod::gradient, "jacobian", "gradient norm",
         "length of the metric's gradient by the token's embedding", false, true,
         "lengths, so the sum is no test"},
        {InfluenceMethod::input_x_gradient, "input-x-gradient", "input × gradient",
         "embedding times that gradient", true, true, nullptr},
        {InfluenceMethod::integrated_gradients, "integrated-gradients", "integrated gradients",
         "the same along the way from a baseline; they sum to the metric's change", true, true, nullptr,
         true},
        {InfluenceMethod::contribution, "contribution", "contribution",
         "lengths of what attention moves (α‖v W_O‖) against the residual, through all layers", false, false,
         nullptr, true},
        {InfluenceMethod::relevance, "relevance", "relevance", "patterns weighted by the metric's gradients",
         false, true, "positive parts alone, so the sum is no test", true},
        {InfluenceMethod::rollout, "rollout", "rollout", "mean patterns, through all layers", false, false,
         nullptr},
        {InfluenceMethod::attribution_patching, "attribution-patching", "attribution patching",
         "of two texts: how much of the metric the clean text's residual stream at each token would "
         "restore, from 0 (corrupted) to 1 (clean), estimated from one reverse pass and summed over layers",
         true, true, nullptr},
    }};
    return kMethods;
}

const LeftOut* Influence::without(int stack, int token) const {
    const auto at = std::find_if(left_out.begin(), left_out.end(), [&](const LeftOut& left) {
        return left.stack == stack && left.part.first == token;
    });
    return at == left_out.end() ? nullptr : &*at;
}

float Influence::gap() const {
    return due == 0 ? std::numeric_limits<float>::quiet_NaN() : std::abs(sum - due) / std::abs(due);
}

namespace {

/// Why the scores of a method may miss what they should sum to.
const char* why_missed(InfluenceMethod method) {
    if (method == InfluenceMethod::integrated_gradients)
        return "more points, or another baseline, bring them closer";
    return "the slope at the text itself says little of a metric that is flat there";
}

std::string with_sign(float value, int digits) {
    return (value >= kNoise ? "+" : "") + fine_decimals(double(value), digits);
}

}  // namespace

std::string adds_up_text(const Influence& found, InfluenceMethod method) {
    const char* no_sum = row_of(influence_methods(), method).no_sum;
    if (method == InfluenceMethod::leave_out)
        return "exact, " + std::to_string(found.passes) + (found.passes == 1 ? " run" : " runs") + " · " +
               no_sum + (found.image_stays ? " · the image stays" : "");
    if (no_sum) return no_sum;
    const int digits = std::abs(found.due) < 1 ? 3 : 2;
    const std::string sums = with_sign(found.sum, digits) + " of " + with_sign(found.due, digits);
    const float gap = found.gap();
    if (!std::isfinite(gap)) return "adds up to " + sums;
    const std::string off = gap < 0.001f
                                ? ", off by less than 0.1 %"
                                : ", off by " + decimals(100 * double(gap), found.misses() ? 0 : 1) + " %";
    return found.misses() ? "does not add up: " + sums + off + "; " + why_missed(method)
                          : "adds up: " + sums + off;
}

// A pass and its reverse cost about three products with each weight and row.
PathBudget budget_of(const ModelConfig& config, int tokens, int steps) {
    constexpr double kProducts = 5e11;
    constexpr int kLeastPoints = 119, kSomePoints = 49;
    if (steps != kWithinBudget) return {};
    double weights = 0;
    for (int s = 0; s < isize(config.stacks); ++s) weights += config.products(s, config.stacks[s].depth());
    const double affordable = kProducts / std::max(1.0, 3 * weights * tokens);
    if (affordable >= kMaxPoints) return {};
    return {std::max(kLeastPoints, int(affordable)), kSomePoints, double(Influence::kMaxGap)};
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

/// Holds the metrics to explain, whose scores are summed.
struct Explained {
    std::vector<Metric> metrics;
    std::vector<int> positions() const {
        std::vector<int> out;
        for (const Metric& m : metrics) out.push_back(m.position);
        return out;
    }
    float value(const Trace& trace, const Trace& unchanged, ThreadPool& pool) const {
        float sum = 0;
        for (const Metric& m : metrics) sum += evaluate(m, trace, unchanged, pool).value;
        return sum;
    }
};

/// The same, asked of the engine.
Result<std::vector<Matrix>> asked_by_embeddings(const Explained& of, const Trace& trace,
                                                const CancelFlag* cancel) {
    std::vector<NamedShape> names;
    for (int stack = 0; stack < isize(trace.request.inputs); ++stack)
        names.push_back(resid_pre_named(trace, stack, 0));
    std::vector<Matrix> sum;
    for (const Metric& metric : of.metrics) {
        TRY(std::vector<Matrix> one, engine_gradients(trace, metric, names, cancel));
        for (size_t s = 0; s < sum.size(); ++s) sum[s] += one[s];
        if (sum.empty()) sum = std::move(one);
    }
    return sum;
}

/// [n, d_model] of each stack: the gradient of their sum by the embeddings.
Result<std::vector<Matrix>> by_embeddings(const Explained& of, const Trace& trace, const Trace* own,
                                          ThreadPool& pool, const CancelFlag* cancel) {
    if (trace.model->engine) return asked_by_embeddings(of, trace, cancel);
    std::vector<GradientSeed> seeds;
    for (const Metric& metric : of.metrics) {
        TRY(GradientSeed seed, metric_seed(metric, trace, own, pool));
        seeds.push_back(std::move(seed));
    }
    TRY(const auto gradients, embedding_gradients(trace, seeds, pool, cancel));
    std::vector<Matrix> out;
    for (const EmbeddingGradients& stack : gradients) out.push_back(stack.of(0));
    return out;
}

/// x · y, row by row, of each stack.
std::vector<Vector> row_products(const std::vector<Matrix>& x, const std::vector<Matrix>& y) {
    std::vector<Vector> out;
    for (size_t s = 0; s < x.size(); ++s) out.push_back(x[s].cwiseProduct(y[s]).rowwise().sum());
    return out;
}

/// Of all stacks, one behind the other.
Eigen::VectorXd joined(const std::vector<Vector>& stacks) {
    Index size = 0, at = 0;
    for (const Vector& stack : stacks) size += stack.size();
    Eigen::VectorXd out(size);
    for (const Vector& stack : stacks) {
        out.segment(at, stack.size()) = stack.cast<double>();
        at += stack.size();
    }
    return out;
}

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

/// Integrates the gradients along the line from the baseline; stores the metric at the baseline.
Status integrate(const InfluenceRuns& runs, const InfluenceRequest& request, const Explained& of,
                 Influence& out, ThreadPool& pool, const CancelFlag* cancel, const InfluenceStep& step) {
    TRY(const std::vector<Matrix> from, baseline_of(runs, request.baseline, pool));
    std::vector<Matrix> way = embeddings_of(runs.trace);
    for (size_t s = 0; s < way.size(); ++s) way[s] -= from[s];
    const Trace& unchanged = runs.own ? *runs.own : runs.trace;
    TRY(const auto begin, run_embeddings(runs.trace, from, pool, cancel));
    out.baseline_value = of.value(*begin, unchanged, pool);
    out.due = out.value - out.baseline_value;
    const PathAt at = [&](double place) -> Result<PathPoint> {
        std::vector<Matrix> there = from;
        for (size_t s = 0; s < way.size(); ++s) there[s] += float(place) * way[s];
        TRY(const auto trace, run_embeddings(runs.trace, there, pool, cancel));
        TRY(const auto gradient, by_embeddings(of, *trace, runs.own, pool, cancel));
        return PathPoint{of.value(*trace, unchanged, pool), joined(row_products(way, gradient))};
    };
    const auto take = [&](const PathIntegral& found) {
        out.tokens = by_stack(runs.trace, found.parts.transpose().cast<float>());
        out.sum = float(found.parts.sum());
        out.passes = found.points;
    };
    const auto seen = [&](const PathIntegral& now) {
        take(now);
        if (step) step(&out);
    };
    const auto tick = [&] {
        if (step) step(nullptr);
    };
    const PathBudget budget =
        budget_of(runs.trace.config(), narrow<int>(runs.trace.token_count()), request.steps);
    out.all_passes = request.steps > 0 ? request.steps : budget.points;
    TRY(const PathIntegral found,
        request.steps > 0
            ? integrate_fixed(at, request.steps, tick)
            : integrate_adaptively(at, double(out.baseline_value), double(out.value), budget, tick, seen));
    take(found);
    return success();
}

/// Stores the fall of the metric without each part at the part's first token, 0 at its others; NaN where
/// nothing is deleted.
void take_left_out(const Trace& trace, const LeaveOutRuns& runs, Influence& out) {
    const bool distance = out.metric.kind == MetricKind::divergence;
    out.tokens.clear();
    for (const Sequence& text : trace.request.inputs)
        out.tokens.push_back(Vector::Constant(text.size(), std::numeric_limits<float>::quiet_NaN()));
    for (const LeftOut& left : runs.found) {
        const float fall = runs.before.value - left.without.value;
        auto part = out.tokens[size_t(left.stack)].segment(left.part.first, left.part.size());
        part.setZero();
        part[0] = distance ? -fall : fall;
    }
    out.before = runs.before;
    out.left_out = runs.found;
    out.passes = isize(runs.found);
    out.image_stays = trace.request.inputs[0].picture != nullptr;
    out.all_passes = runs.all;
}

/// Sums the relevance of each metric.
Status add_relevance(const InfluenceRuns& runs, const Explained& of, Influence& out, ThreadPool& pool,
                     const CancelFlag* cancel) {
    std::vector<GradientSeed> seeds;
    for (const Metric& metric : of.metrics) {
        TRY(GradientSeed seed, metric_seed(metric, runs.trace, runs.own, pool));
        seeds.push_back(std::move(seed));
    }
    TRY(const Matrix found, relevance_paths(runs.trace, of.positions(), std::move(seeds), pool, cancel));
    out.tokens = by_stack(runs.trace, found.colwise().sum());
    return success();
}

/// Sums the estimates of all layers at each position.
Status add_estimates(const InfluenceRuns& runs, const InfluenceRequest& request, Influence& out,
                     ThreadPool& pool, const CancelFlag* cancel) {
    if (!runs.prompt || runs.prompt->model != runs.trace.model)
        return Error{
            "Attribution patching needs two runs of one model: the corrupted text's, and that of a clean "
            "text with the same number of tokens."};
    if (request.written > 0)
        return Error{"Attribution patching restores one metric; leave out the written tokens."};
    const PatchRequest patch{PatchPart::resid_pre, {}, request.metric};
    TRY(const PatchMap map, empty_patch_map(*runs.prompt, runs.trace, patch, pool));
    TRY(const Matrix estimates, patch_estimates(map, *runs.prompt, runs.trace, pool, cancel));
    out.metric = map.asked.metric;
    out.value = map.corrupted.value;
    out.baseline_value = map.clean.value;
    for (const Sequence& s : runs.trace.request.inputs) out.tokens.push_back(Vector::Zero(s.size()));
    for (int row = 0; row < isize(map.blocks); ++row) {
        Vector& tokens = out.tokens[size_t(runs.trace.config().block(map.blocks[row]).stack)];
        tokens += estimates.row(row).head(tokens.size()).transpose();
    }
    return success();
}

/// Explains the metric's value.
Status explain(const InfluenceRuns& runs, const InfluenceRequest& request, const Explained& of,
               Influence& out, ThreadPool& pool, const CancelFlag* cancel, const InfluenceStep& step) {
    if (request.method == InfluenceMethod::integrated_gradients)
        return integrate(runs, request, of, out, pool, cancel, step);
    if (request.method == InfluenceMethod::leave_out) {
        const auto seen = [&](const LeaveOutRuns& now) {
            take_left_out(runs.trace, now, out);
            if (step) step(&out);
        };
        TRY(const LeaveOutRuns found,
            leave_out(runs.trace, runs.own, {of.metrics, request.part, request.written}, pool, cancel, seen));
        take_left_out(runs.trace, found, out);
        return success();
    }
    if (request.method == InfluenceMethod::relevance) return add_relevance(runs, of, out, pool, cancel);
    TRY(const auto gradient, by_embeddings(of, runs.trace, runs.own, pool, cancel));
    if (request.method == InfluenceMethod::input_x_gradient) {
        out.tokens = row_products(embeddings_of(runs.trace), gradient);
        out.due = out.value;
    } else {
        for (const Matrix& stack : gradient) out.tokens.push_back(stack.rowwise().norm());
    }
    return success();
}

/// Resolves the metrics to explain, or the position of the row to explain.
Result<Explained> resolved_for(const InfluenceRuns& runs, const InfluenceRequest& request, ThreadPool& pool) {
    const Trace& own = runs.own ? *runs.own : runs.trace;
    const bool of_metric = row_of(influence_methods(), request.method).of_metric;
    Explained out;
    if (request.written > 0) {
        TRY(out.metrics, written_metrics(request.metric, own, request.written));
        return out;
    }
    Metric metric = request.metric;
    if (of_metric || own.model->has_logits()) {
        TRY(metric, resolved(request.metric, own, pool));
    } else if (metric.position < 0 || metric.position >= own.output().size()) {
        metric.position = default_place(own, pool).position;
    }
    out.metrics = {metric};
    return out;
}

}  // namespace

Result<Influence> influence(const InfluenceRuns& runs, const InfluenceRequest& request, ThreadPool& pool,
                            const CancelFlag* cancel, const InfluenceStep& step) {
    return guarded([&]() -> Result<Influence> {
        const CancelScope scope(pool, cancel);
        const Trace& trace = runs.trace;
        TRY_STATUS(check_method(trace, request.method));
        Influence out;
        if (request.method == InfluenceMethod::attribution_patching) {
            TRY_STATUS(add_estimates(runs, request, out, pool, cancel));
            for (const Vector& stack : out.tokens) out.sum += stack.sum();
            return out;
        }
        TRY(const Explained of, resolved_for(runs, request, pool));
        out.metric = of.metrics.front();
        if (trace.model->has_logits()) {
            const Trace& own = runs.own ? *runs.own : trace;
            out.value = of.value(trace, own, pool);
            out.own_value = runs.own ? of.value(own, own, pool) : out.value;
        }
        if (request.method == InfluenceMethod::contribution) {
            TRY(out.tokens, contribution_paths(trace, of.positions(), pool, cancel));
        } else if (request.method == InfluenceMethod::rollout) {
            TRY(out.tokens, rollout_paths(trace, of.positions(), pool, cancel));
        } else {
            TRY_STATUS(explain(runs, request, of, out, pool, cancel, step));
        }
        if (request.method == InfluenceMethod::contribution || request.method == InfluenceMethod::rollout)
            out.due = float(of.metrics.size());
        out.sum = 0;
        for (const Vector& stack : out.tokens) out.sum += stack.array().isNaN().select(0, stack).sum();
        return out;
    });
}

}  // namespace headlight
