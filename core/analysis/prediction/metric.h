// What is being explained: one number that a run's predictions give.
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
    int b = -1;         // the one that is subtracted; −1: none
    int position = -1;  // of the output sequence; −1: where the model predicts
    bool operator==(const Metric&) const = default;
};

/// The table of kinds.
struct MetricRow {
    MetricKind kind;
    const char* word;   // before the token, as it is spelled: "log p"
    const char* other;  // another spelling of the same
    const char* help;
};
std::span<const MetricRow> metric_rows();
inline const MetricRow& metric_row(MetricKind kind) { return metric_rows()[static_cast<size_t>(kind)]; }

/// The token that a text spells: ball is the one with a blank in front where the model has it, else the one
/// without, and the other way round where it does not stand behind a word; " ball" and "ball" in quotes, or
/// ␣ball, are exactly these; #17 is an id. The error says where a text is several tokens.
Result<int> parse_token(const Model& model, const std::string& text, bool behind_word = true);

/// "ball" (its logit), "log p(ball)", "p(ball)", "logit(ball)", "ball - car", "kl", each with @12 for a
/// position, and with a blank for the brackets; a kind alone is of the most probable token; "default" or
/// nothing: log p of that. `run`: whose text says what the tokens stand behind; null: a word.
Result<Metric> parse_metric(const Model& model, const std::string& text, const Trace* run = nullptr);
/// Of a model without a head that predicts tokens.
Error predicts_nothing(const Model& model);
/// As parse_metric reads it, tokens in quotes; "" for the default.
std::string metric_name(const Model& model, const Metric& metric);
/// The same with tokens by their ids: "log p #17", "#17 - #4", each kind by its word.
std::string metric_by_ids(const Metric& metric);
/// As people read it: "log p ball", "ball − car", "KL".
std::string metric_label(const Model& model, const Metric& metric);

/// The metric with the tokens and the position that the unchanged run gives it, or why it cannot be taken of
/// that.
Result<Metric> resolved(Metric metric, const Trace& unchanged, ThreadPool& pool);

/// A metric of one run, and what is said of its token A beside it; or the difference of two.
struct MetricValues {
    float value = 0;
    float probability = 0, logit = 0, log_probability = 0;
    bool operator==(const MetricValues&) const = default;
};
MetricValues operator-(const MetricValues& x, const MetricValues& y);

/// Of the logits [vocab] at its position; `unchanged`: those of the unchanged run, which a divergence needs.
MetricValues evaluate(const Metric& metric, const Vector& logits, const Vector& unchanged);
/// Its gradient by each of these logits [vocab].
Vector metric_gradient(const Metric& metric, const Vector& logits, const Vector& unchanged);
/// evaluate() of runs, for a resolved metric.
MetricValues evaluate(const Metric& metric, const Trace& trace, const Trace& unchanged, ThreadPool& pool);

}  // namespace headlight
