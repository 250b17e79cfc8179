// Draws the side panel of Words that matter: the shown word, the cell of the map; and returns the numbers.
#include <algorithm>
#include <cmath>
#include <limits>

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
    const bool relevance = s.of<InfluenceState>().maps == InfluenceMaps::relevance;
    if (!panel.fold("cell of the map",
                    (relevance ? "Relevance of " : "Influence of ") + token_at(s.key_labels(), cell->second) +
                        (relevance ? " for " : " on ") + token_at(s.query_labels(), cell->first)))
        return;
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
}

/// "98.9 % → 69.5 %", then the difference in each measure.
void list_left_out(Scene& s, SidePanel& panel, const ScoredWords& words, const ScoredWord& word) {
    if (!word.left) {
        if (words.first.found && words.first_method->method == InfluenceMethod::leave_out)
            panel.note(words.first.whole ? "This one cannot be left out: the prediction needs it."
                                         : "Not left out yet.");
        return;
    }
    const MetricValues &before = words.first.found->before, &without = word.left->without;
    if (words.asks >= 0 && &word == &words.all[words.asks])
        panel.note("The model predicts from here; leaving it out asks a different question.");
    if (!panel.fold("Left out")) return;
    Rect values = panel.line();
    take_left(values, write(panel.ui, values, kTitleMono, panel.ui.colors->t3, explained_value(s, before)),
              gap::small);
    write(panel.ui, values, kTitleMono, panel.ui.colors->t1, "→ " + explained_value(s, without));
    panel.skip(panel.pair_step + gap::tight);
    const MetricKind kind = words.first.found->metric.kind;
    const bool written = explains_written(s);
    if (shows_percents(kind) && !written)
        panel.pair("points", points_text(without.probability - before.probability), true);
    if (!shows_percents(kind) || written)
        panel.pair("adds to " + explained_name(s), signed_number(word.first, 3), true);
    if (kind == MetricKind::difference || kind == MetricKind::divergence) return;
    panel.pair("adds to log p", signed_number(before.log_probability - without.log_probability, 3));
    panel.pair("adds to logit", signed_number(before.logit - without.logit, 2));
}

/// Lists the most probable tokens without the word, with both probabilities.
void list_instead(Scene& s, SidePanel& panel, const ScoredWord& word) {
    constexpr float kStep = 24;
    if (!word.left || word.left->likely.empty()) return;
    Ui& ui = s.ui;
    if (!panel.fold("instead", "What comes instead", "before, without it")) return;
    panel.bars = panel.at.w * 0.36f;
    for (const LeftOut::Chance& chance : word.left->likely) {
        const Rect line = panel.line(kStep);
        Rect track{line.x + panel.bars, line.middle_y() - 5, line.w - panel.bars - 60, 4};
        ui.text.draw(line.x, panel.y, kBodyMono, ui.colors->t1,
                     ui.text.fitted(kBodyMono, listed_label(*s.model(), chance.id), panel.bars - gap::small));
        ui.bar(track, chance.before, ui.colors->t3);
        track.y += 6;
        ui.bar(track, chance.without, ui.colors->accent);
        ui.text.draw_right(line.right(), panel.y, kBodyMono, ui.colors->t2, percent(chance.without));
        panel.skip(kStep);
    }
}

void list_second(Scene& s, SidePanel& panel, const ScoredWords& words, const ScoredWord& word) {
    if (!words.second_method || std::isnan(word.second)) return;
    if (!panel.fold("second method", method_title(*words.second_method))) return;
    const bool adds = words.second_method->of_metric && words.second_method->is_signed;
    panel.pair(adds ? "adds to " + explained_name(s) : "score of the word",
               adds ? signed_number(word.second, 3) : fine_number(word.second, 3), true);
    if (const float sum = words.second.found->sum; sum != 0)
        panel.pair("share of all words", percent(word.second / sum));
    if (words.pale()) panel.note(adds_up_text(*words.second.found, words.second_method->method) + ".");
}

}  // namespace

void draw_influence_inspector(Scene& s, Rect area) {
    constexpr float kFoot = 40;
    Ui& ui = s.ui;
    Rect line = inspector_line(ui, area);
    const bool ready = s.sentence() && s.answer->picture;
    const ScoredWords words = ready ? words_of(s) : ScoredWords{};
    const auto shown = ready ? shown_word(s, words) : std::nullopt;
    const auto& state = s.of<InfluenceState>();
    if (shown) {
        const char* why = state.word ? "hover" : state.locked ? "locked" : "matters most";
        const float wide =
            write(ui, line, kCaption, state.word || !state.locked ? ui.colors->t3 : ui.colors->accent_text,
                  why, Flush::right);
        take_right(line, wide, gap::large);
    }
    write(ui, line, shown ? kTitleMono : kTitle, shown ? ui.colors->accent_text : ui.colors->t1,
          shown ? first_that_fits(ui, kTitleMono,
                                  {word_name(s, words.all[*shown]), words.all[*shown].part.label}, line.w)
                : "Words that matter");
    SidePanel panel(s, area, shown ? kFoot : 0);
    if (shown) {
        list_left_out(s, panel, words, words.all[*shown]);
        list_instead(s, panel, words.all[*shown]);
        list_second(s, panel, words, words.all[*shown]);
    }
    if (ready && state.maps != InfluenceMaps::none) list_cell(s, panel);
    panel.finish();
    if (!shown) return;
    const Rect foot = panel_foot(area);
    const Rect row{foot.x, foot.y - kFoot, foot.w, foot.h};
    const bool masked = is_masked_word(s, words.all[*shown].part);
    if (ui.button("influence/mask", nth_column(row, 0, 2, gap::small),
                  masked ? "Unmask it" : std::string("Mask this ") + word_unit(s)))
        mask_word(s, words.all[*shown].part);
    if (ui.button("influence/copy", nth_column(row, 1, 2, gap::small), "Copy table")) s.send("copy numbers");
}

namespace {

/// Returns the scores of a method; for leave-out also p without each word.
NumberTable scores_table(const ScoredWords& words, bool first) {
    const InfluenceMethodRow& method = first ? *words.first_method : *words.second_method;
    const bool left_out = method.method == InfluenceMethod::leave_out;
    NumberTable out{method.word, "token", "score", {}, {"score"}, Matrix(words.all.size(), left_out ? 2 : 1)};
    if (left_out) out.columns.emplace_back("p without it");
    for (size_t i = 0; i < words.all.size(); ++i) {
        const ScoredWord& word = words.all[i];
        out.rows.push_back(word.part.label);
        out.values(Index(i), 0) = first ? word.first : word.second;
        if (left_out)
            out.values(Index(i), 1) =
                word.left ? word.left->without.probability : std::numeric_limits<float>::quiet_NaN();
    }
    return out;
}

void add_maps(const Scene& s, std::vector<NumberTable>& out) {
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
}

}  // namespace

std::vector<NumberTable> influence_numbers(const Scene& s) {
    std::vector<NumberTable> out;
    const ScoredWords words = words_of(s);
    if (words.first.found) out.push_back(scores_table(words, true));
    if (words.second_method && words.second.found) {
        out.push_back(scores_table(words, false));
        out.back().beside = !out.empty() && out.size() > 1;
    }
    if (s.of<InfluenceState>().maps != InfluenceMaps::none) add_maps(s, out);
    return out;
}

}  // namespace headlight
