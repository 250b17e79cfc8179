// Draws the side panel of Influence: the focused cell, and the parts of the text with the largest scores.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/cast.h"
#include "parts/metric.h"
#include "parts/side_panel.h"
#include "views/influence/influence.h"

namespace headlight {

namespace {

void list_cell(Scene& s, SidePanel& panel) {
    const InfluenceMapFound found = influence_map_found(s);
    const auto cell = s.shown_cell();
    if (!found.map || !cell) return;
    const Trace& trace = *s.sentence()->trace;
    const Matrix norms = of_keys(found.map->norms, trace, s.block());
    if (cell->first >= norms.rows() || cell->second >= norms.cols()) return;
    const bool relevance = s.of<InfluenceState>().of == InfluenceOf::relevance;
    panel.heading((relevance ? "Relevance of " : "Influence of ") + token_at(s.key_labels(), cell->second) +
                  (relevance ? " for " : " on ") + token_at(s.query_labels(), cell->first));
    const float norm = norms(cell->first, cell->second);
    panel.pair(influence_word(s), std::isnan(norm) ? "—" : fine_number(norm, 4), true);
    if (found.map->standard_error.size() && !std::isnan(norm))
        panel.pair(
            "standard error",
            fine_number(of_keys(found.map->standard_error, trace, s.block())(cell->first, cell->second), 4));
    if (!std::isnan(norm))
        panel.pair("share of the row", fine_number(norm / norms.row(cell->first).sum(), 3));
    if (const AttentionBeside* attention = attention_beside(s)) {
        panel.pair("attention",
                   fine_number(std::max(0.0f, attention->weights(cell->first, cell->second)), 3));
        if (!std::isnan(attention->correlation) && attention->rows > 0)
            panel.pair("rank correlation", number(attention->correlation, 3));
    }
    panel.rule();
}

void list_parts(Scene& s, SidePanel& panel) {
    constexpr int kListed = 14;
    constexpr float kValue = 76;
    const TokenScores scores = token_scores_found(s);
    if (!scores.found) return;
    const TokenScoresRequest request = token_scores_request(s);
    const InfluenceMethodRow& method = row_of(influence_methods(), request.how.method);
    panel.heading("Matters most for " + explained_name(s), method.name);
    panel.bars = panel.at.w * 0.42f;
    panel.values = kValue;
    const std::vector<ScoredPart> parts = shown_parts(s, *scores.found);
    std::vector<int> order(parts.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return std::abs(parts[a].score) > std::abs(parts[b].score); });
    for (int i = 0; i < std::min(kListed, isize(order)) && panel.y + gap::medium < panel.end(); ++i) {
        const ScoredPart& part = parts[order[i]];
        const float max = std::max(std::abs(parts[order[0]].score), 1e-12f);
        panel.bar({part.tokens.size() == 1 ? std::to_string(part.tokens.first) : "", part.label,
                   part.score / max,
                   method.is_signed ? signed_number(part.score, 3) : fine_number(part.score, 3),
                   s.of<InfluenceState>().part_pointed == order[i], method.is_signed});
    }
    panel.rule();
    if (request.how.method == InfluenceMethod::integrated_gradients) {
        panel.pair("scores sum to", number(scores.found->sum, 3));
        panel.pair("metric − baseline", number(scores.found->value - scores.found->baseline_value, 3));
        if (!std::isnan(scores.found->gap())) panel.pair("gap", percent(scores.found->gap()), true);
    }
}

}  // namespace

void draw_influence_inspector(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const Rect line = inspector_line(ui, area);
    write(ui, line, kTitle, ui.colors->t1, "Influence");
    SidePanel panel(s, area);
    if (s.sentence() && s.answer->picture) {
        list_cell(s, panel);
        list_parts(s, panel);
    }
    panel.note(
        s.of<InfluenceState>().of == InfluenceOf::relevance
            ? "Relevance: patterns times the metric’s gradients, positive parts only, accumulated through "
              "all layers from the identity (Chefer et al. 2021)."
            : "Influence: ‖∂output/∂E‖, how strongly an output responds to a small change of a token’s "
              "embedding along all paths. Attention is one of these paths.");
    panel.finish();
}

std::vector<NumberTable> influence_numbers(const Scene& s) {
    std::vector<NumberTable> out;
    const Trace& trace = *s.sentence()->trace;
    const auto &rows = s.query_labels(), &columns = s.key_labels();
    if (const InfluenceMapFound found = influence_map_found(s); found.map) {
        out.push_back(
            {"influence", "output", "token", rows, columns, of_keys(found.map->norms, trace, s.block())});
        if (found.map->standard_error.size())
            out.push_back({"standard error", "output", "token", rows, columns,
                           of_keys(found.map->standard_error, trace, s.block())});
    }
    if (const AttentionBeside* attention = attention_beside(s)) {
        out.push_back(
            {attention_beside_name(s), "query", "key", rows, columns, attention->weights.cwiseMax(0.0f)});
        out.push_back({"rank correlation",
                       "",
                       "",
                       {"mean over rows"},
                       {"rho"},
                       Matrix::Constant(1, 1, attention->correlation)});
        out.back().beside = true;
    }
    const TokenScores scores = token_scores_found(s);
    if (!scores.found) return out;
    const std::vector<ScoredPart> parts = shown_parts(s, *scores.found);
    std::vector<std::string> names;
    Matrix values(parts.size(), 1);
    for (size_t i = 0; i < parts.size(); ++i) {
        names.push_back(parts[i].label);
        values(Index(i), 0) = parts[i].score;
    }
    out.push_back({row_of(influence_methods(), token_scores_request(s).how.method).word,
                   "token",
                   "score",
                   names,
                   {"score"},
                   values});
    out.back().beside = true;
    return out;
}

}  // namespace headlight
