// Ranks predictions and labels tokens.
#include "analysis/prediction/predict.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/cast.h"
#include "base/check.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "kernels/choice.h"
#include "model/engine.h"

namespace headlight {

Vector probabilities(const Vector& logits) {
    Vector p = (logits.array() - logits.maxCoeff()).exp();
    return p / p.sum();
}

float log_sum_exp(const Vector& logits) {
    const float largest = logits.maxCoeff();
    return largest + std::log((logits.array() - largest).exp().sum());
}

std::vector<int> ranked_ids(const Vector& values, int count) {
    constexpr int kFew = 64;  // up to this many are kept in order while scanning
    const auto before = [&](int a, int b) { return values[a] != values[b] ? values[a] > values[b] : a < b; };
    const int max = std::min(count, narrow<int>(values.size()));
    std::vector<int> order;
    if (max > kFew) {
        order.resize(values.size());
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + max, order.end(), before);
        order.resize(max);
        return order;
    }
    for (int i = 0; max > 0 && i < values.size(); ++i) {
        const bool full = isize(order) == max;
        if (full && !(values[i] > values[order.back()])) continue;
        if (full) order.pop_back();
        order.insert(std::upper_bound(order.begin(), order.end(), i, before), i);
    }
    return order;
}

Vector logits_at(const Trace& trace, int position, ThreadPool& pool) {
    HEADLIGHT_CHECK(position >= 0 && position < trace.normalized().rows());
    return unembed(*trace.model, trace.normalized().middleRows(position, 1), pool).row(0).transpose();
}

Result<Matrix> logits_under(const Trace& run, const std::vector<Intervention>& changed, int position,
                            ThreadPool& pool, const CancelFlag* cancel) {
    if (run.model->engine) {
        std::vector<const Intervention*> all;
        for (const Intervention& one : changed) all.push_back(&one);
        return run.model->engine->logits_under(run, all, position, cancel);
    }
    std::vector<TraceRequest> requests;
    for (const Intervention& one : changed) requests.push_back({{run.request.inputs, one}, &run});
    TRY(const auto runs, run_traces(run.model, std::move(requests), pool, cancel));
    Matrix rows(isize(runs), run.config().d_model);
    for (int i = 0; i < isize(runs); ++i) rows.row(i) = runs[size_t(i)]->normalized().row(position);
    return unembed(*run.model, rows, pool);
}

Vector probabilities_at(const Trace& trace, int position, ThreadPool& pool) {
    return probabilities(logits_at(trace, position, pool));
}

std::vector<int> predicting_positions(const Trace& trace) {
    const ModelConfig& c = trace.config();
    if (!trace.model->has_logits()) return {};
    if (c.can.read_image) return {0};
    const Sequence& s = trace.output();
    if (!c.can.fill_masks) return {s.size() - 1};
    std::vector<int> out;
    for (int i = 0; i < s.size(); ++i)
        if (s.ids[i] == c.mask_id) out.push_back(i);
    return out;
}

std::vector<Prediction> predictions(const Trace& trace, int position, int count, ThreadPool& pool) {
    Vector p = logits_at(trace, position, pool);
    // of the leading tokens, whose probabilities are far from float32's smallest
    kernels().softmax(p.data(), p.size());
    std::vector<Prediction> out;
    for (const int id : ranked_ids(p, count)) out.push_back({id, p[id]});
    return out;
}

namespace {

/// Returns the label of a part of a character: "⟨E4⟩", "⟨E4 BD⟩".
std::string bytes_label(std::string_view bytes) {
    static constexpr char kDigits[] = "0123456789ABCDEF";
    std::string out;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += out.empty() ? "⟨" : " ";
        out += {kDigits[byte >> 4], kDigits[byte & 15]};
    }
    return out + "⟩";
}

/// Returns whether a token begins with the space between two words; spaces alone are their own tokens.
bool has_blank_first(std::string_view bytes) {
    return bytes.size() > 1 && bytes[0] == ' ' && bytes[1] != ' ';
}

/// Matches invisible characters: spaces of other widths, joiners, variation selectors, marks of direction.
bool leaves_no_mark(char32_t c) {
    return c == 0xA0 || c == 0xAD || c == 0x34F || c == 0x61C || c == 0x180E ||
           (c >= 0x2000 && c <= 0x200F) || (c >= 0x2028 && c <= 0x202F) || (c >= 0x205F && c <= 0x206F) ||
           c == 0x3000 || c == 0xFEFF || (c >= 0xFE00 && c <= 0xFE0F);
}

/// "⟨U+00A0⟩".
std::string code_label(char32_t c) {
    static constexpr char kDigits[] = "0123456789ABCDEF";
    std::string digits;
    for (; c || digits.size() < 4; c >>= 4) digits.insert(digits.begin(), kDigits[c & 15]);
    return "⟨U+" + digits + "⟩";
}

/// Labels the bytes of a token for users; an invisible one by its code.
std::string label_of(std::string_view bytes) {
    if (!is_valid_utf8(bytes)) return bytes_label(bytes);
    const bool blank_first = has_blank_first(bytes);
    std::string out, codes;
    bool marks = false;
    for (size_t at = blank_first ? 1 : 0; at < bytes.size();) {
        const CodePoint c = decode_utf8(bytes, at);
        at += c.length;
        marks = marks || !leaves_no_mark(c.value);
        codes += code_label(c.value);
        if (c.value == '\n')
            out += "↵";
        else if (c.value == ' ')
            out += "␣";
        else if (c.value == '\t')
            out += "→";
        else
            append_utf8(out, control_picture(c.value));
    }
    return marks ? out : codes;
}

}  // namespace

std::string token_label(const Tokenizer& tokenizer, int id) { return label_of(tokenizer.bytes(id)); }

namespace {

/// Labels consecutive parts of a character "天 1/3" and so on.
void name_parts(const Tokenizer& tokenizer, const std::vector<int>& ids, std::vector<std::string>& labels) {
    constexpr int kMaxParts = 4;  // bytes of a character
    for (int first = 0, end = 0; first < isize(ids); first = std::max(first + 1, end)) {
        std::string bytes(tokenizer.bytes(ids[first]));
        if (is_valid_utf8(bytes)) continue;
        const int last = std::min(isize(ids), first + kMaxParts);
        for (end = first + 1; end < last && !is_valid_utf8(bytes); ++end) bytes += tokenizer.bytes(ids[end]);
        if (!is_valid_utf8(bytes)) {
            end = first + 1;
            continue;
        }
        for (int i = first; i < end; ++i)
            labels[i] =
                label_of(bytes) + " " + std::to_string(i - first + 1) + "/" + std::to_string(end - first);
    }
}

}  // namespace

std::vector<std::string> token_labels(const Model& model, const Sequence& sequence, int stack) {
    if (model.config.can.read_image) return sequence.tokens;
    if (!model.tokenizer) {
        std::vector<std::string> out;
        for (const std::string& token : sequence.tokens) out.push_back(label_of(token));
        return out;
    }
    const Tokenizer& tokenizer = stack == 0 ? **model.tokenizer : *model.target_tokenizer();
    std::vector<std::string> out;
    for (const int id : sequence.ids) out.push_back(token_label(tokenizer, id));
    name_parts(tokenizer, sequence.ids, out);
    for (int i = 0; sequence.picture && i < sequence.size(); ++i)
        if (sequence.picture->grid.has(i)) out[size_t(i)] = sequence.tokens[size_t(i)];
    return out;
}

std::vector<std::string> token_labels(const Trace& trace, int stack) {
    return token_labels(*trace.model, trace.request.inputs[stack], stack);
}

namespace {

/// Returns "#7" if there is no label: logits may have rows without a token.
std::string or_number(std::string label, int id) {
    return label.empty() ? "#" + std::to_string(id) : std::move(label);
}

}  // namespace

std::string prediction_label(const Model& model, int id) {
    if (model.config.can.read_image) return model.config.vision.labels[id];
    return or_number(model.tokenizer ? token_label(*model.target_tokenizer(), id) : "", id);
}

std::string listed_label(const Model& model, int id) {
    return listed_label(model, id, isize(model.config.stacks) - 1);
}

std::string listed_label(const Model& model, int id, int stack) {
    if (model.config.can.read_image || !model.tokenizer) return prediction_label(model, id);
    const Tokenizer& tokenizer = stack == 0 ? **model.tokenizer : *model.target_tokenizer();
    return (has_blank_first(tokenizer.bytes(id)) ? "␣" : "") + or_number(token_label(tokenizer, id), id);
}

}  // namespace headlight
