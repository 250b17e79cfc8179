// Lists, beside the alignment, alternatives, the source words attended to, and each word's strongest source.

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "parts/layer_heads.h"
#include "parts/side_panel.h"
#include "views/align/align.h"
#include "views/tables.h"

namespace headlight {

namespace {

/// The generation step of a query of the decoder, the one after the last token included; or −1.
int step_of(const Scene& s, int query) {
    const auto& written = s.sentence()->written;
    const int step = written ? query - (written->given - 1) : -1;
    return step >= 0 && step <= isize(written->generation.tokens) ? step : -1;
}

bool draw_choice(Scene& s, Column& c, const std::string& path, const BarLine& line) {
    const Rect r{c.at.x - gap::small, c.y - 13, c.at.w + 2 * gap::small, 26};
    const Hit h = s.ui.control(path, r);
    if (h.hovered) s.ui.fill(r, s.ui.colors->bg3, size::corner);
    c.bar(line);
    return h.clicked;
}

/// Lists the alternatives of a step; click to continue from one.
void draw_alternatives(Scene& s, SidePanel& c, int step, size_t max, const std::string& title,
                       const std::string& path) {
    if (!c.fold(path, title, "p")) return;
    auto choices = alternatives_at(s, step);
    choices.resize(std::min(max, choices.size()));
    const auto& tokens = s.sentence()->written->generation.tokens;
    const bool listed = std::any_of(choices.begin(), choices.end(),
                                    [&](const Prediction& p) { return is_generated(s, step, p.id); });
    if (!listed && step < isize(tokens)) choices.push_back({tokens[step].id, tokens[step].probability});
    for (size_t i = 0; i < choices.size(); ++i)
        if (draw_choice(s, c, "align/" + path + "/" + std::to_string(i),
                        {"", listed_label(*s.model(), choices[i].id), choices[i].probability,
                         percent(choices[i].probability), is_generated(s, step, choices[i].id)}))
            continue_from(s, step, choices[i].id);
}

/// The step with the least probable token.
int least_certain(const Generation& generation) {
    const auto it = std::min_element(
        generation.tokens.begin(), generation.tokens.end(),
        [](const GeneratedToken& a, const GeneratedToken& b) { return a.probability < b.probability; });
    return narrow<int>(it - generation.tokens.begin());
}

void draw_sources(SidePanel& column, const WordAlignment& a, std::pair<int, int> cell, size_t max) {
    if (!column.fold("Row", "Row", "weight")) return;
    column.attends_to(a.rows[cell.first]);
    std::vector<int> order;
    for (int c = 0; c < isize(a.columns); ++c) order.push_back(c);
    std::stable_sort(order.begin(), order.end(),
                     [&](int x, int z) { return a.weights(cell.first, x) > a.weights(cell.first, z); });
    for (size_t i = 0; i < std::min(max, order.size()); ++i) {
        const int c = order[i];
        const float weight = a.weights(cell.first, c);
        column.bar({std::to_string(c), a.columns[c], std::max(0.0f, weight),
                    number(std::max(0.0f, weight), 3), i == 0});
    }
}

void draw_pairs(SidePanel& c, const WordAlignment& a, std::pair<int, int> cell, float bottom) {
    Ui& ui = c.ui;
    const Rect column = c.at;
    constexpr float line = 20, kLeast = 100;
    if (bottom - c.y < kLeast || !c.fold("Strongest source of each word")) return;
    const int room = std::max(2, int((bottom - c.y) / line)), rows = isize(a.rows);
    const int first = std::clamp(cell.first - room + 1, 0, std::max(0, rows - room));
    for (int r = first; r < std::min(rows, first + room); ++r, c.skip(line)) {
        const bool on = r == cell.first;
        ui.text.draw(column.x, c.y, kCaptionMono, on ? ui.colors->accent_text : ui.colors->t2,
                     ui.text.fitted(kCaptionMono, a.rows[r], column.w * 0.42f));
        ui.text.draw(column.x + column.w * 0.46f, c.y, kCaptionMono, on ? ui.colors->t1 : ui.colors->t2,
                     ui.text.fitted(kCaptionMono, a.columns[a.strongest[r]], column.w * 0.5f));
    }
}

}  // namespace

bool draw_alignment_list(Scene& s, Rect area) {
    if (s.of<AlignState>().of != AlignOf::chosen) return false;
    draw_layer_heads(s, area);
    return true;
}

void draw_alignment_inspector(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = shown_alignment(s);
    if (!found || !s.answer->picture) return;
    const WordAlignment& a = found->answer;
    const auto cell = focused_words(s, a);
    const auto shown = s.shown_cell();
    const int step = shown ? step_of(s, shown->first) : -1;
    const std::string& word = a.rows[cell.first];
    const char* what = found->asked.as_read                      ? "being read"
                       : step >= 0 && step == s.sentence()->step ? "being chosen"
                                                                 : "chosen";
    Rect line = inspector_line(ui, area);
    take_right(line, write(ui, beside_title(line), kCaption, ui.colors->t2, what, Flush::right),
               gap::section);
    take_left(line, write(ui, line, kTitleMono, ui.colors->accent_text, word), gap::small);
    write(ui, beside_title(line), kCaptionMono, ui.colors->t3, std::to_string(cell.first));
    const bool low = area.h < 720;
    SidePanel panel(s, area);
    if (step >= 0) {
        draw_alternatives(s, panel, step, low ? 4 : 5, "Alternatives at this step", "choice");
        const Generation& generation = s.sentence()->written->generation;
        const int unsure = generation.tokens.empty() ? step : least_certain(generation);
        if (!low && unsure != step)
            draw_alternatives(s, panel, unsure, 4,
                              "Least certain: step " + std::to_string(unsure) + ", " +
                                  s.sentence()->written->labels[unsure],
                              "unsure");
    }
    draw_sources(panel, a, cell, low ? 3 : 4);
    draw_pairs(panel, a, cell, panel.end());
    panel.finish();
}

std::vector<NumberTable> alignment_numbers(const Scene& s) {
    const auto* found = s.found<WordAlignmentRequest>();
    if (!found) return {};
    const WordAlignment& a = found->answer;
    Matrix rest(a.rows.size(), 2);
    for (int r = 0; r < isize(a.rows); ++r) rest.row(r) << float(a.strongest[r]), a.entropy[r];
    return {{"alignment", "target", "source", a.rows, a.columns, shown_only(a.weights)},
            {"strongest source and entropy in bits",
             "target",
             "",
             a.rows,
             {"strongest source", "entropy"},
             std::move(rest)}};
}

}  // namespace headlight
