#include "analysis/predict.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "base/utf8.h"

namespace headlight {

Vector probabilities(const Vector& logits) {
    Vector p = (logits.array() - logits.maxCoeff()).exp();
    return p / p.sum();
}

std::vector<int> ranked_ids(const Vector& values, int count) {
    std::vector<int> order(static_cast<size_t>(values.size()));
    std::iota(order.begin(), order.end(), 0);
    const auto middle = order.begin() + std::min<std::ptrdiff_t>(count, values.size());
    std::partial_sort(order.begin(), middle, order.end(), [&](int a, int b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
    order.erase(middle, order.end());
    return order;
}

namespace {

int sample(const Vector& logits, const Sampling& s, std::mt19937_64& random) {
    if (s.temperature <= 0) return ranked_ids(logits, 1)[0];
    const Vector p = probabilities(logits / s.temperature);
    const std::vector<int> order = ranked_ids(p, s.top_k > 0 ? s.top_k : static_cast<int>(p.size()));
    std::vector<double> weights;
    double mass = 0;
    for (const int id : order) {
        weights.push_back(p[id]);
        mass += p[id];
        if (mass >= s.top_p) break;
    }
    double point = std::uniform_real_distribution<double>(0, std::accumulate(weights.begin(), weights.end(), 0.0))(random);
    for (size_t i = 0; i + 1 < weights.size(); ++i)
        if ((point -= weights[i]) < 0) return order[i];
    return order[weights.size() - 1];
}

Vector logits_at(const Trace& trace, int position, ThreadPool& pool) {
    return unembed(*trace.model, trace.normalized().middleRows(position, 1), pool).row(0).transpose();
}

Result<std::vector<int>> fill_masks(const std::shared_ptr<const Model>& model, ForwardRequest request, const Sampling& sampling, ThreadPool& pool) {
    std::mt19937_64 random(sampling.seed);
    TRY(const auto trace, run_trace(model, request, pool));
    for (const int position : predicting_positions(*trace)) request.inputs[0].ids[static_cast<size_t>(position)] = sample(logits_at(*trace, position, pool), sampling, random);
    return request.inputs[0].ids;
}

}  // namespace

Vector probabilities_at(const Trace& trace, int position, ThreadPool& pool) { return probabilities(logits_at(trace, position, pool)); }

std::vector<int> predicting_positions(const Trace& trace) {
    const ModelConfig& c = trace.config();
    if (!trace.model->has_logits()) return {};
    if (c.kind == ModelKind::vision) return {0};
    const Sequence& s = trace.output();
    if (c.kind != ModelKind::encoder) return {s.size() - 1};
    std::vector<int> out;
    for (int i = 0; i < s.size(); ++i)
        if (s.ids[static_cast<size_t>(i)] == c.mask_id) out.push_back(i);
    return out;
}

std::vector<Prediction> predictions(const Trace& trace, int position, int count, ThreadPool& pool) {
    const Vector p = probabilities_at(trace, position, pool);
    std::vector<Prediction> out;
    for (const int id : ranked_ids(p, count)) out.push_back({id, p[id]});
    return out;
}

Result<std::vector<int>> generate(std::shared_ptr<const Model> model, ForwardRequest request, int count, const Sampling& sampling, ThreadPool& pool) {
    if (!model->has_logits()) return Error{model->name + " has no language-model head, so it predicts no tokens; use a checkpoint that was saved with its head."};
    if (model->config.kind == ModelKind::vision) return Error{model->name + " reads pictures and writes no text; use a model of text."};
    if (model->config.kind == ModelKind::encoder) return fill_masks(model, std::move(request), sampling, pool);
    std::mt19937_64 random(sampling.seed);
    std::vector<int> out;
    std::shared_ptr<const Trace> past;
    const bool ends = model->config.kind == ModelKind::encoder_decoder;
    Sequence& growing = request.inputs.back();
    while (static_cast<int>(out.size()) < count && growing.size() < model->config.context) {
        TRY(past, run_trace(model, request, pool, nullptr, past.get()));
        const int id = sample(logits_at(*past, growing.size() - 1, pool), sampling, random);
        if (ends && id == model->config.end_id) break;
        out.push_back(id);
        growing.ids.push_back(id);
    }
    return out;
}

std::string token_label(const Tokenizer& tokenizer, int id) {
    const std::string bytes = tokenizer.bytes(id);
    if (!is_valid_utf8(bytes)) return "Byte";
    const bool blank_first = bytes.size() > 1 && bytes[0] == ' ' && bytes[1] != ' ';
    std::string out;
    for (size_t at = blank_first ? 1 : 0; at < bytes.size();) {
        const CodePoint c = decode_utf8(bytes, at);
        at += static_cast<size_t>(c.length);
        if (c.value == '\n') out += "↵";
        else if (c.value == ' ') out += "␣";
        else if (c.value == '\t') out += "→";
        else if (c.value < 0x20 || c.value == 0x7F) out += "·";
        else append_utf8(out, c.value);
    }
    return out;
}

std::vector<std::string> token_labels(const Model& model, const Sequence& sequence, int stack) {
    if (sequence.picture) return sequence.tokens;
    if (!model.tokenizer) {
        std::vector<std::string> out = sequence.tokens;
        for (std::string& token : out)
            if (token.size() > 1 && token[0] == ' ') token.erase(0, 1);
        return out;
    }
    const Tokenizer& tokenizer = stack == 0 ? **model.tokenizer : *model.target_tokenizer();
    std::vector<std::string> out;
    for (const int id : sequence.ids) out.push_back(token_label(tokenizer, id));
    return out;
}

std::vector<std::string> token_labels(const Trace& trace, int stack) { return token_labels(*trace.model, trace.request.inputs[static_cast<size_t>(stack)], stack); }

std::string prediction_label(const Model& model, int id) {
    if (model.config.kind == ModelKind::vision) return model.config.vision.labels[static_cast<size_t>(id)];
    const std::string label = model.tokenizer ? token_label(*model.target_tokenizer(), id) : "";
    return label.empty() ? "#" + std::to_string(id) : label;  // logits may have rows that no token has
}

}  // namespace headlight
