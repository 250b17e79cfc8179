// Evaluates metrics and their gradients.
#include "analysis/prediction/metric.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/comparison/compare.h"
#include "analysis/prediction/default_place.h"
#include "base/check.h"
#include "base/quoted.h"

namespace headlight {

std::span<const MetricRow> metric_rows() {
    static constexpr std::array<MetricRow, 5> kTable{{
        {MetricKind::log_probability, "log p", "logprob", "log-probability of a token, in nats"},
        {MetricKind::probability, "p", "probability", "probability of a token"},
        {MetricKind::logit, "logit", "logits", "logit of a token"},
        {MetricKind::difference, "A - B", "difference", "logit of token A minus logit of token B"},
        {MetricKind::divergence, "kl", "divergence",
         "Kullback–Leibler divergence of the predictions from the unchanged run’s, in bits"},
    }};
    return kTable;
}

Error predicts_nothing(const Model& model) {
    if (model.weights.stacks.empty() && !model.engine)
        return {model.name + " holds no weights, so there is no metric to take of it; open the model."};
    return {model.name + " has no head that predicts tokens, so there is no metric to take of it."};
}

Result<Metric> resolved(Metric m, const Trace& own, ThreadPool& pool) {
    if (!own.model->has_logits()) return predicts_nothing(*own.model);
    if (std::max(m.a, m.b) >= own.model->logit_count())
        return Error{"The metric names a token that " + own.model->name + " does not have; choose another."};
    const int n = own.config().can.read_image ? 1 : own.output().size();
    if (m.position >= n)
        return Error{"The metric is taken at position " + std::to_string(m.position) +
                     ", but the text has positions 0 … " + std::to_string(n - 1) + "."};
    if (m.position < 0 && m.a >= 0) {  // a named token is the next one
        const auto positions = predicting_positions(own);
        if (positions.empty())
            return Error{
                "The text has no mask token to predict; put one into it, or give the metric a "
                "position, as in log p ball@3."};
        m.position = positions[0];
    }
    if (m.position < 0) {
        const MetricPlace place = default_place(own, pool);
        m.position = place.position;
        m.a = place.token;
    }
    if (m.a < 0) m.a = predictions(own, m.position, 1, pool)[0].id;
    return m;
}

MetricValues operator-(const MetricValues& x, const MetricValues& y) {
    return {x.value - y.value, x.probability - y.probability, x.logit - y.logit,
            x.log_probability - y.log_probability};
}

namespace {

/// Checks that the logits include the metric's tokens.
void check_names(const Metric& m, Index logits) {
    HEADLIGHT_CHECK(m.a >= 0 && m.a < logits && m.b < logits);
    HEADLIGHT_CHECK(m.kind != MetricKind::difference || m.b >= 0);
}

}  // namespace

MetricValues evaluate(const Metric& m, const Vector& logits, const Vector& unchanged) {
    check_names(m, logits.size());
    MetricValues out;
    out.logit = logits[m.a];
    out.log_probability = out.logit - log_sum_exp(logits);
    out.probability = std::exp(out.log_probability);
    switch (m.kind) {
        case MetricKind::log_probability:
            out.value = out.log_probability;
            break;
        case MetricKind::probability:
            out.value = out.probability;
            break;
        case MetricKind::logit:
            out.value = out.logit;
            break;
        case MetricKind::difference:
            out.value = logits[m.a] - logits[m.b];
            break;
        case MetricKind::divergence:
            out.value = relative_entropy(probabilities(unchanged), probabilities(logits));
            break;
    }
    return out;
}

// With p = softmax(logits): ∂ log p_a = e_a − p, ∂ p_a = p_a (e_a − p), ∂ D(u ‖ p) = (p − u) / ln 2.
Vector metric_gradient(const Metric& m, const Vector& logits, const Vector& unchanged) {
    check_names(m, logits.size());
    const Vector p = probabilities(logits);
    if (m.kind == MetricKind::divergence) return (p - probabilities(unchanged)) / float(M_LN2);
    Vector out = Vector::Zero(logits.size());
    const bool of_softmax = m.kind == MetricKind::log_probability || m.kind == MetricKind::probability;
    if (of_softmax) out = -p;
    out[m.a] += 1;
    if (m.kind == MetricKind::probability) out *= p[m.a];
    if (m.kind == MetricKind::difference) out[m.b] -= 1;
    return out;
}

MetricValues evaluate(const Metric& m, const Trace& trace, const Trace& unchanged, ThreadPool& pool) {
    const Vector logits = logits_at(trace, m.position, pool);
    const bool needs_both = m.kind == MetricKind::divergence && &trace != &unchanged;
    return evaluate(m, logits, needs_both ? logits_at(unchanged, m.position, pool) : logits);
}

}  // namespace headlight
