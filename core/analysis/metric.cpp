#include "analysis/metric.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

#include "analysis/compare.h"
#include "base/cast.h"
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

namespace {

std::string trimmed(const std::string& text) {
    const size_t first = text.find_first_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

bool is_quoted(const std::string& text) {
    return text.size() > 2 && text.front() == '"' && text.find('"', 1) == text.size() - 1;
}

std::optional<int> number_in(std::string_view text) {
    int number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = !text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size();
    return whole ? std::optional(number) : std::nullopt;
}

bool is_id(const Model& model, std::optional<int> id) { return id && *id >= 0 && *id < model.config.vocab; }

/// The token whose bytes these are, or −1.
int token_of_bytes(const Model& model, const std::string& bytes) {
    if (!model.tokenizer || model.config.can.read_image) return -1;
    for (int id = 0; id < model.config.vocab; ++id)
        if (model.target_tokenizer()->bytes(id) == bytes) return id;
    return -1;
}

int token_of_label(const Model& model, const std::string& label) {
    for (int id = 0; id < model.config.vocab; ++id)
        if (prediction_label(model, id) == label) return id;
    return -1;
}

/// Why a text is no token: there is none, or there are several.
Error no_token(const Model& model, const std::string& text) {
    constexpr size_t kNamed = 4;
    const std::string begin = "No token of " + model.name + " reads " + in_quotes(text);
    for (const std::string& spelled : {" " + text, text}) {  // within a text, then as its beginning
        if (!model.tokenizer || model.config.can.read_image) break;
        const auto read = model.target_tokenizer()->encode(spelled, false);
        if (!read || read->ids.size() < 2) continue;
        std::string pieces;
        for (size_t i = 0; i < std::min(kNamed, read->ids.size()); ++i)
            pieces += (i ? ", " : "") + prediction_label(model, read->ids[i]);
        if (read->ids.size() > kNamed) pieces += ", …";
        return {begin + ": it is " + std::to_string(read->ids.size()) + " tokens there (" +
                shortened(pieces) + "); give one of them."};
    }
    return {begin + "; give one token as 'headlight tokenize' spells it, or its id as #17."};
}

}  // namespace

Result<int> parse_token(const Model& model, const std::string& typed) {
    constexpr std::string_view kBlank = "␣";
    std::string text = trimmed(typed);
    if (text.starts_with('#') && is_id(model, number_in(text.substr(1)))) return *number_in(text.substr(1));
    bool exact = is_quoted(text);
    if (exact) text = text.substr(1, text.size() - 2);
    if (text.starts_with(kBlank)) {
        text = " " + text.substr(kBlank.size());
        exact = true;
    }
    if (text.empty()) return Error{"The metric lacks a token; write one behind its kind, as in log p ball."};
    int id = token_of_bytes(model, exact ? text : " " + text);
    if (id < 0) id = token_of_label(model, trimmed(text));
    if (id >= 0) return id;
    if (is_id(model, number_in(text))) return *number_in(text);
    return no_token(model, text);
}

namespace {

/// Takes "@12" off the end.
int take_position(std::string& text) {
    const size_t at = text.rfind('@');
    if (at == std::string::npos) return -1;
    const auto number = number_in(trimmed(text.substr(at + 1)));
    if (!number || *number < 0) return -1;
    text = trimmed(text.substr(0, at));
    return *number;
}

/// "ball - car": its two sides; the first dash between blanks or quotes that leaves something on both.
std::optional<std::pair<std::string, std::string>> sides(const std::string& text) {
    for (const std::string_view dash : {" − ", " - "})
        if (const size_t at = text.find(dash); at != std::string::npos && at > 0) {
            std::pair out{trimmed(text.substr(0, at)), trimmed(text.substr(at + dash.size()))};
            if (!out.first.empty() && !out.second.empty()) return out;
        }
    return std::nullopt;
}

/// The kind that a text begins with, which is taken off; none: a token alone.
std::optional<MetricKind> take_kind(std::string& text) {
    for (const MetricRow& row : metric_rows())
        for (const std::string word : {row.word, row.other}) {
            if (row.kind == MetricKind::difference || !text.starts_with(word)) continue;
            if (text.size() > word.size() && text[word.size()] != ' ') continue;
            text = trimmed(text.substr(word.size()));
            return row.kind;
        }
    return std::nullopt;
}

Result<Metric> parse_difference(const Model& model, const std::pair<std::string, std::string>& tokens) {
    Metric out{MetricKind::difference};
    TRY(out.a, parse_token(model, tokens.first));
    TRY(out.b, parse_token(model, tokens.second));
    if (out.a == out.b)
        return Error{"Both sides of the difference are " + in_quotes(prediction_label(model, out.a)) +
                     "; give two different tokens."};
    return out;
}

Error predicts_nothing(const Model& model) {
    return {model.name + " has no head that predicts tokens, so there is no metric to take of it."};
}

}  // namespace

Result<Metric> parse_metric(const Model& model, const std::string& typed) {
    if (!model.has_logits()) return predicts_nothing(model);
    std::string text = trimmed(typed);
    if (is_quoted(text)) text = trimmed(text.substr(1, text.size() - 2));
    const int position = take_position(text);
    Metric out;
    if (text == "default") text.clear();
    if (const auto kind = take_kind(text)) {
        out.kind = *kind;
        if (*kind == MetricKind::divergence && !text.empty())
            return Error{"The divergence is of all tokens; leave " + in_quotes(text) + " out."};
        if (!text.empty()) {
            TRY(out.a, parse_token(model, text));
        }
    } else if (const auto tokens = sides(text)) {
        TRY(out, parse_difference(model, *tokens));
    } else if (!text.empty()) {
        TRY(out.a, parse_token(model, text));
    }
    out.position = position;
    return out;
}

namespace {

std::string token_by_id(int id) { return "#" + std::to_string(id); }

/// A token as parse_token finds it again.
std::string token_name(const Model& model, int id) {
    const std::string bytes =
        model.tokenizer && !model.config.can.read_image ? model.target_tokenizer()->bytes(id) : "";
    const bool plain = !bytes.empty() && bytes.find('"') == std::string::npos &&
                       bytes.find('@') == std::string::npos && token_of_bytes(model, bytes) == id &&
                       printable(bytes) == bytes;
    return plain ? "\"" + bytes + "\"" : token_by_id(id);
}

/// A divergence, which is of all tokens, names none.
std::string written(const Metric& m, const std::function<std::string(int)>& token) {
    std::string out = metric_row(m.kind).word;
    if (m.kind == MetricKind::difference)
        out = token(m.a) + " - " + token(m.b);
    else if (m.kind != MetricKind::divergence && m.a >= 0)
        out += " " + token(m.a);
    return out + (m.position >= 0 ? "@" + std::to_string(m.position) : "");
}

}  // namespace

std::string metric_name(const Model& model, const Metric& m) {
    return m == Metric{} ? "" : written(m, [&](int id) { return token_name(model, id); });
}

std::string metric_by_ids(const Metric& m) { return written(m, token_by_id); }

std::string metric_label(const Model& model, const Metric& m) {
    if (m.kind == MetricKind::divergence) return "KL";
    if (m.kind == MetricKind::difference)
        return prediction_label(model, m.a) + " − " + prediction_label(model, m.b);
    return std::string(metric_row(m.kind).word) + (m.a >= 0 ? " " + prediction_label(model, m.a) : "");
}

Result<Metric> resolved(Metric m, const Trace& own, ThreadPool& pool) {
    if (!own.model->has_logits()) return predicts_nothing(*own.model);
    if (std::max(m.a, m.b) >= own.model->weights.unembedding.out)
        return Error{"The metric names a token that " + own.model->name + " does not have; choose another."};
    const int n = own.config().can.read_image ? 1 : own.output().size();
    if (m.position >= n)
        return Error{"The metric is taken at position " + std::to_string(m.position) +
                     ", but the text has positions 0 … " + std::to_string(n - 1) + "."};
    if (m.position < 0) {
        const auto positions = predicting_positions(own);
        if (positions.empty())
            return Error{
                "The text has no mask token to predict; put one into it, or give the metric a "
                "position, as in log p ball@3."};
        m.position = positions[0];
    }
    if (m.a < 0) m.a = predictions(own, m.position, 1, pool)[0].id;
    return m;
}

MetricValues operator-(const MetricValues& x, const MetricValues& y) {
    return {x.value - y.value, x.probability - y.probability, x.logit - y.logit,
            x.log_probability - y.log_probability};
}

MetricValues evaluate(const Metric& m, const Vector& logits, const Vector& unchanged) {
    HEADLIGHT_CHECK(m.a >= 0 && m.a < logits.size() && m.b < logits.size());
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
    HEADLIGHT_CHECK(m.a >= 0 && m.a < logits.size() && m.b < logits.size());
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
