// Spells, parses and labels metrics.
#include <algorithm>
#include <cctype>
#include <functional>
#include <optional>

#include "analysis/prediction/metric.h"
#include "base/cast.h"
#include "base/quoted.h"

namespace headlight {

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
    return read_number(text, number) ? std::optional(number) : std::nullopt;
}

bool is_id(const Model& model, std::optional<int> id) { return id && *id >= 0 && *id < model.config.vocab; }

/// Returns the token with these bytes, or −1.
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

/// Matches "-5" and "99999999999", meant as an id or a position but out of range.
bool is_any_number(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
}

/// Explains an invalid id, or position after "@"; none: it was meant as text.
std::optional<Error> no_number(const Model& model, const std::string& text) {
    if (text.starts_with('#') && is_any_number(std::string_view(text).substr(1)))
        return Error{"There is no token " + in_quotes(shortened(text)) + ": the ids of " + model.name +
                     " go from #0 to #" + std::to_string(model.config.vocab - 1) + "; correct it."};
    const size_t at = text.rfind('@');
    if (at == std::string::npos || at == 0) return std::nullopt;
    const std::string rest = trimmed(text.substr(at + 1));
    if (!rest.empty() && !is_any_number(rest)) return std::nullopt;
    return Error{in_quotes(shortened(text.substr(at))) +
                 " is no position; write its number from 0 behind the @, as in ball@12."};
}

/// Explains why a text is not one token: none, or several.
Error no_token(const Model& model, const std::string& text) {
    constexpr size_t kNamed = 4;
    if (const auto wrong = no_number(model, text)) return *wrong;
    const std::string begin = "No token of " + model.name + " reads " + in_quotes(text);
    for (const std::string& spelled : {" " + text, text}) {  // within a text, then at its beginning
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

Result<int> parse_token(const Model& model, const std::string& typed, bool behind_word) {
    constexpr std::string_view kBlank = "␣";
    std::string text = trimmed(typed);
    if (text.starts_with('#') && is_id(model, number_in(text.substr(1)))) return *number_in(text.substr(1));
    bool exact = is_quoted(text);
    if (exact) text = text.substr(1, text.size() - 2);
    if (text.starts_with(kBlank)) {
        text = " " + text.substr(kBlank.size());
        exact = true;
    }
    if (text.empty()) return Error{"The metric lacks a token; write one after its kind, as in log p ball."};
    int id = token_of_bytes(model, exact || !behind_word ? text : " " + text);
    if (id < 0 && !exact && !behind_word) id = token_of_bytes(model, " " + text);
    if (id < 0) id = token_of_label(model, trimmed(text));
    if (id >= 0) return id;
    if (is_id(model, number_in(text))) return *number_in(text);
    return no_token(model, text);
}

namespace {

/// Removes "@12" from the end.
int take_position(std::string& text) {
    const size_t at = text.rfind('@');
    if (at == std::string::npos) return -1;
    const auto number = number_in(trimmed(text.substr(at + 1)));
    if (!number || *number < 0) return -1;
    text = trimmed(text.substr(0, at));
    return *number;
}

/// Splits "ball - car" at the first dash between spaces or quotes with text on both sides.
std::optional<std::pair<std::string, std::string>> sides(const std::string& text) {
    for (const std::string_view dash : {" − ", " - "})
        if (const size_t at = text.find(dash); at != std::string::npos && at > 0) {
            std::pair out{trimmed(text.substr(0, at)), trimmed(text.substr(at + dash.size()))};
            if (!out.first.empty() && !out.second.empty()) return out;
        }
    return std::nullopt;
}

/// Returns "ball" for "(ball)"; other text unchanged.
std::string out_of_brackets(const std::string& text) {
    const bool in_brackets = text.size() > 2 && text.front() == '(' && text.back() == ')';
    return in_brackets ? trimmed(text.substr(1, text.size() - 2)) : text;
}

/// Removes the kind that a text begins with; none: a token alone.
std::optional<MetricKind> take_kind(std::string& text) {
    for (const MetricRow& row : metric_rows())
        for (const std::string word : {row.word, row.other}) {
            if (row.kind == MetricKind::difference || !text.starts_with(word)) continue;
            const std::string rest = text.substr(word.size());
            const bool brackets = rest.size() > 2 && rest.front() == '(' && rest.back() == ')';
            if (!rest.empty() && rest.front() != ' ' && !brackets) continue;
            text = out_of_brackets(trimmed(rest));
            return row.kind;
        }
    return std::nullopt;
}

/// Removes a command's quotes around "ball - car" or "log p ball"; quotes around a token belong to it.
std::string without_outer_quotes(const std::string& text) {
    if (!is_quoted(text)) return text;
    const std::string inside = trimmed(text.substr(1, text.size() - 2));
    std::string behind_kind = inside;
    return sides(inside) || (take_kind(behind_kind) && !behind_kind.empty()) ? inside : text;
}

/// Returns whether a prediction at a position follows a word: a token that ends in a letter, a digit or
/// another script. A mask may be anywhere.
bool stands_behind_word(const Trace* run, int position) {
    if (!run || run->config().can.fill_masks || run->config().can.read_image || !run->model->tokenizer)
        return true;
    const std::vector<int>& ids = run->output().ids;
    const int at = position < 0 ? isize(ids) - 1 : position;
    if (at < 0 || at >= isize(ids)) return true;
    const std::string bytes = run->model->target_tokenizer()->bytes(ids[at]);
    const bool special = run->model->target_tokenizer()->decode({ids[at]}).empty() && bytes != " ";
    if (bytes.empty() || special) return true;
    const auto last = static_cast<unsigned char>(bytes.back());
    return std::isalnum(last) || last >= 128;
}

Result<Metric> parse_difference(const Model& model, const std::pair<std::string, std::string>& tokens,
                                bool behind_word) {
    Metric out{MetricKind::difference};
    TRY(out.a, parse_token(model, tokens.first, behind_word));
    TRY(out.b, parse_token(model, tokens.second, behind_word));
    if (out.a == out.b)
        return Error{"Both sides of the difference are " + in_quotes(prediction_label(model, out.a)) +
                     "; give two different tokens."};
    return out;
}

}  // namespace

Result<Metric> parse_metric(const Model& model, const std::string& typed, const Trace* run) {
    if (!model.has_logits()) return predicts_nothing(model);
    std::string text = without_outer_quotes(trimmed(typed));
    const int position = take_position(text);
    const bool behind_word = stands_behind_word(run, position);
    Metric out;
    if (text == "default") text.clear();
    if (const auto kind = take_kind(text)) {
        out.kind = *kind;
        if (*kind == MetricKind::divergence && !text.empty())
            return Error{"The divergence is of all tokens; leave " + in_quotes(text) + " out."};
        if (!text.empty()) {
            TRY(out.a, parse_token(model, text, behind_word));
        }
    } else if (const auto tokens = sides(text)) {
        TRY(out, parse_difference(model, *tokens, behind_word));
    } else if (!text.empty()) {
        out.kind = MetricKind::logit;
        TRY(out.a, parse_token(model, text, behind_word));
    }
    out.position = position;
    return out;
}

namespace {

std::string token_by_id(int id) { return "#" + std::to_string(id); }

/// Spells a token so that parse_token finds it again.
std::string token_name(const Model& model, int id) {
    const std::string bytes =
        model.tokenizer && !model.config.can.read_image ? model.target_tokenizer()->bytes(id) : "";
    const bool plain = !bytes.empty() && bytes.find('"') == std::string::npos &&
                       bytes.find('@') == std::string::npos && token_of_bytes(model, bytes) == id &&
                       printable(bytes) == bytes;
    return plain ? "\"" + bytes + "\"" : token_by_id(id);
}

/// Omits the token of a divergence, which is over all tokens.
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

}  // namespace headlight
