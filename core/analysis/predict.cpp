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

namespace {

std::vector<int> ranked_ids(const Vector& values, int count) {
    std::vector<int> order(static_cast<size_t>(values.size()));
    std::iota(order.begin(), order.end(), 0);
    const auto middle = order.begin() + std::min<std::ptrdiff_t>(count, values.size());
    std::partial_sort(order.begin(), middle, order.end(), [&](int a, int b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
    order.erase(middle, order.end());
    return order;
}

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

Vector last_logits(const Trace& trace, int query, ThreadPool& pool) {
    return unembed(*trace.model, trace.activations.normalized.middleRows(query, 1), pool).row(0).transpose();
}

}  // namespace

std::vector<Prediction> next_tokens(const Trace& trace, int query, int count, ThreadPool& pool) {
    const Vector p = probabilities(last_logits(trace, query, pool));
    std::vector<Prediction> out;
    for (const int id : ranked_ids(p, count)) out.push_back({id, p[id]});
    return out;
}

Result<std::vector<int>> generate(std::shared_ptr<const Model> model, std::vector<int> ids, int count, const Sampling& sampling, ThreadPool& pool) {
    std::mt19937_64 random(sampling.seed);
    std::vector<int> out;
    std::shared_ptr<const Trace> past;
    while (static_cast<int>(out.size()) < count && static_cast<int>(ids.size()) < model->config.context) {
        TRY(past, run_trace(model, {ids, {}, {}}, pool, nullptr, past.get()));
        out.push_back(sample(last_logits(*past, past->size() - 1, pool), sampling, random));
        ids.push_back(out.back());
    }
    return out;
}

std::string token_label(const Model& model, int id) {
    if (!model.tokenizer) return "#" + std::to_string(id);
    const std::string bytes = (*model.tokenizer)->bytes(id);
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

}  // namespace headlight
