// Writes an explanation as tables of numbers and as JSON.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/patching/explanation.h"
#include "base/cast.h"

namespace headlight {

namespace {

Json values_json(const MetricValues& values) {
    return {{"value", values.value}, {"probability", values.probability}, {"logit", values.logit}};
}

std::string source_name(const PathEdge& edge, const Trace& clean) {
    if (edge.token < 0) return head_name(clean.config(), edge.from);
    const int stack = clean.config().block(edge.to.block).key_stack;
    return token_labels(clean, stack)[size_t(edge.token)] + " " + std::to_string(edge.token);
}

std::string target_name(const PathEdge& edge, const Trace& clean) {
    return edge.to_answer ? "answer" : head_name(clean.config(), edge.to);
}

std::string word_name(const LeftOutWord& word, const Trace& clean) {
    return token_labels(clean, word.stack)[size_t(word.token)] + " " + std::to_string(word.token);
}

NumberTable words_table(const Explanation& e, const Trace& clean) {
    std::vector<std::string> words;
    Matrix effects(isize(e.words), 1);
    for (int i = 0; i < isize(e.words); ++i) {
        words.push_back(word_name(e.words[size_t(i)], clean));
        effects(i, 0) = e.words[size_t(i)].effect;
    }
    return {"words", "token", "effect", words, {"left out"}, effects};
}

NumberTable heads_table(const Explanation& e, const ModelConfig& c) {
    std::vector<std::string> heads;
    Matrix effects(c.head_count(), 2);
    for (int i = 0; i < c.head_count(); ++i) {
        heads.push_back(head_name(c, c.head_at(i)));
        effects.row(i) << e.direct[i], e.ablated[i];
    }
    return {"all heads", "head", "effect", heads, {"direct", "ablated"}, effects};
}

/// The heads by the size of the effect of ablating them, the largest first; those not measured last.
std::vector<int> by_ablation(const Explanation& e) {
    std::vector<int> out(e.ablated.size());
    std::iota(out.begin(), out.end(), 0);
    const auto size = [&](int i) { return std::isnan(e.ablated[i]) ? -1 : std::abs(e.ablated[i]); };
    std::stable_sort(out.begin(), out.end(), [&](int a, int b) { return size(a) > size(b); });
    return out;
}

Json words_json(const Explanation& e, const Trace& clean) {
    Json out = Json::array();
    for (const LeftOutWord& word : e.words) {
        out.push_back({{"token", word.token},
                       {"text", token_labels(clean, word.stack)[size_t(word.token)]},
                       {"effect", word.effect}});
        if (clean.request.inputs.size() > 1) out.back()["text_number"] = word.stack;
    }
    return out;
}

Json others_json(const Explanation& e, const Trace& clean) {
    const ModelConfig& c = clean.config();
    Json others = Json::array();
    for (const OtherSentence& other : e.others) {
        others.push_back({{"text", other.text},
                          {"metric", metric_name(*clean.model, other.metric)},
                          {"clean", values_json(other.clean)},
                          {"only_these", values_json(other.only)},
                          {"all_but_these", values_json(other.without)},
                          {"effects", Json::array()}});
        for (size_t i = 0; i < e.heads.size(); ++i)
            others.back()["effects"].push_back(
                {{"head", head_path(c, e.heads[i])}, {"effect", other.effects[i]}});
    }
    return others;
}

}  // namespace

std::vector<NumberTable> explanation_numbers(const Explanation& e, const Trace& clean) {
    std::vector<std::string> edges, heads;
    Matrix effects(isize(e.edges), 4), by_head(isize(e.heads), 2);
    for (int i = 0; i < isize(e.edges); ++i) {
        const PathEdge& edge = e.edges[size_t(i)];
        edges.push_back(source_name(edge, clean) + " → " + target_name(edge, clean));
        effects.row(i) << edge.effect, edge.by_queries, edge.by_keys, edge.by_values;
    }
    for (int i = 0; i < isize(e.heads); ++i) {
        heads.push_back(head_name(clean.config(), e.heads[size_t(i)]));
        by_head.row(i) << e.direct[e.heads[size_t(i)]], e.ablated[e.heads[size_t(i)]];
    }
    Matrix checks(3, 2);
    checks << e.clean.value, e.clean.probability, e.only.value, e.only.probability, e.without.value,
        e.without.probability;
    std::vector<NumberTable> out{
        {"paths", "path", "effect", edges, {"effect", "by queries", "by keys", "by values"}, effects},
        {"heads", "head", "effect", heads, {"direct", "ablated"}, by_head},
        {"check", "run", "value", {"all heads", "only these", "all but these"}, {"metric", "p"}, checks}};
    out.push_back(words_table(e, clean));
    out.push_back(heads_table(e, clean.config()));
    for (size_t i = 1; i < out.size(); ++i) out[i].beside = true;
    return out;
}

Json explanation_json(const Explanation& e, const Trace& clean) {
    const ModelConfig& c = clean.config();
    Json heads = Json::array(), edges = Json::array(), all = Json::array();
    for (const AttentionHead head : e.heads)
        heads.push_back(
            {{"head", head_path(c, head)}, {"direct", e.direct[head]}, {"ablated", e.ablated[head]}});
    for (const int i : by_ablation(e))
        all.push_back(
            {{"head", head_path(c, c.head_at(i))}, {"direct", e.direct[i]}, {"ablated", e.ablated[i]}});
    for (const PathEdge& edge : e.edges) {
        Json out;
        if (edge.token >= 0)
            out["token"] = edge.token;
        else
            out["from"] = head_path(c, edge.from);
        out["to"] = edge.to_answer ? "answer" : head_path(c, edge.to);
        out["effect"] = edge.effect;
        if (!std::isnan(edge.by_keys))
            out["by"] = {{"queries", edge.by_queries}, {"keys", edge.by_keys}, {"values", edge.by_values}};
        edges.push_back(std::move(out));
    }
    Json out{{"metric", metric_name(*clean.model, e.metric)},
             {"clean", values_json(e.clean)},
             {"words", words_json(e, clean)},
             {"all_heads", std::move(all)},
             {"edges_from", e.edges_from},
             {"heads", std::move(heads)},
             {"edges", std::move(edges)},
             {"only_these", values_json(e.only)},
             {"all_but_these", values_json(e.without)},
             {"other_sentences", others_json(e, clean)}};
    if (!e.others_refusal.empty()) out["other_sentences_refused"] = e.others_refusal;
    if (!e.words_refusal.empty()) out["words_refused"] = e.words_refusal;
    return out;
}

}  // namespace headlight
