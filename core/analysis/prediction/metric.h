// Defines the metric to explain: one number computed from a run's predictions.
#pragma once

#include <span>
#include <string>

#include "analysis/prediction/predict.h"

namespace headlight {

/// Of a token: log p (nats), its probability, its logit. Of two: the difference of their logits, A − B. Of
/// all: the Kullback–Leibler divergence D(unchanged ‖ now) in bits.
enum class MetricKind { log_probability, probability, logit, difference, divergence };

struct Metric {
    MetricKind kind = MetricKind::log_probability;
    int a = -1;         // token; −1: the most probable one of the unchanged run
    int b = -1;         // token to subtract; −1: none
    int position = -1;  // in the output sequence; −1: where the model predicts; without a: default_place()
    bool operator==(const Metric&) const = default;
};

struct MetricRow {
    MetricKind kind;
    const char* word;   // before the token, as spelled: "log p"
    const char* other;  // alternative spelling
    const char* help;
};
std::span<const MetricRow> metric_rows();
inline const MetricRow& metric_row(MetricKind kind) { return metric_rows()[static_cast<size_t>(kind)]; }

/// Returns the token that a text spells: ball means the one with a leading space if the model has it, else
/// the one without, and the other way round unless it follows a word; " ball" and "ball" in quotes, or ␣ball,
/// mean exactly these; #17 is an id. Fails, saying so, if a text is several tokens.
Result<int> parse_token(const Model& model, const std::string& text, bool behind_word = true);

/// Parses "ball" (its logit), "log p(ball)", "p(ball)", "logit(ball)", "ball - car", "kl", each with an
/// optional @12 for a position, and with a space for the brackets; a kind alone means the most probable
/// token; "default" or nothing: log p of that. `run`: the run whose text precedes the tokens; null: assumes a
/// word.
Result<Metric> parse_metric(const Model& model, const std::string& text, const Trace* run = nullptr);
/// Explains that a model has no head that predicts tokens.
Error predicts_nothing(const Model& model);
/// Spells a metric as parse_metric reads it, tokens in quotes; "" for the default.
std::string metric_name(const Model& model, const Metric& metric);
/// Spells it with tokens by their ids: "log p #17", "#17 - #4", each kind by its word.
std::string metric_by_ids(const Metric& metric);
/// Labels it for users: "log p ball", "ball − car", "KL".
std::string metric_label(const Model& model, const Metric& metric);

/// Fills in the tokens and the position from the unchanged run; fails if the metric is undefined there.
Result<Metric> resolved(Metric metric, const Trace& unchanged, ThreadPool& pool);

/// Holds a metric of one run, and the probability, logit and log p of its token A; or the difference of two.
struct MetricValues {
    float value = 0;
    float probability = 0, logit = 0, log_probability = 0;
    bool operator==(const MetricValues&) const = default;
};
MetricValues operator-(const MetricValues& x, const MetricValues& y);

/// Evaluates it on the logits [vocab] at its position; `unchanged`: of the unchanged run, for a divergence.
MetricValues evaluate(const Metric& metric, const Vector& logits, const Vector& unchanged);
/// Returns its gradient by each of these logits [vocab].
Vector metric_gradient(const Metric& metric, const Vector& logits, const Vector& unchanged);
/// Evaluates a resolved metric on runs.
MetricValues evaluate(const Metric& metric, const Trace& trace, const Trace& unchanged, ThreadPool& pool);

}  // namespace headlight
