// Beside the alignment: what else the model could have said, where a word reads, and each word's strongest
// source.

#include <algorithm>
#include <cmath>

#include "views/align.h"
#include "views/head_list.h"
#include "views/layer_heads.h"
#include "views/numbers.h"
#include "views/save_menu.h"

namespace headlight {

namespace {

/// Which step of the writing a query of the decoder is, the one behind the last token too; or −1.
int step_of(const Scene& s, int query) {
    const auto& written = s.sentence()->written;
    const int step = written ? query - (written->given - 1) : -1;
    return step >= 0 && step <= static_cast<int>(written->generation.tokens.size()) ? step : -1;
}

/// "label ▬▬▬ 0.97": a row that can be pressed.
bool draw_choice(Scene& s, Rect column, float y, const std::string& path, const std::string& label,
                 float value, bool on, int digits = 4) {
    Ui& ui = s.ui;
    const Rect r{column.x - 8, y - 13, column.w + 16, 26};
    const Hit h = path.empty() ? Hit() : ui.control(path, r);
    if (h.hovered) ui.fill(r, ui.colors->bg3, size::corner);
    ui.text.draw(column.x, y, kBodyMono, on ? ui.colors->accent_text : ui.colors->t1,
                 ui.text.fitted(kBodyMono, label, 100));
    ui.bar({column.x + 108, y - 4, column.w - (108 + 68), 8}, value, on ? ui.colors->accent : ui.colors->t3);
    ui.text.draw_right(column.right(), y, kBodyMono, on ? ui.colors->accent_text : ui.colors->t2,
                       number(value, digits));
    return h.clicked;
}

float draw_heading(Ui& ui, Rect column, float y, const std::string& text, const char* right) {
    ui.text.draw(column.x, y, kCaption, ui.colors->t3, ui.text.fitted(kCaption, text, column.w - 56));
    ui.text.draw_right(column.right(), y, kCaption, ui.colors->t3, right);
    return y + 26;
}

float draw_rule(Ui& ui, Rect area, float y) {
    ui.hairline(area.x + size::inspector_pad, y, area.right() - size::inspector_pad, y);
    return y + 22;
}

/// The alternatives of a step; a click goes on from one.
float draw_alternatives(Scene& s, Rect column, float y, int step, size_t max, const std::string& title,
                        const char* path) {
    y = draw_heading(s.ui, column, y, title, "p");
    auto choices = choices_at(s, step);
    choices.resize(std::min(max, choices.size()));
    const auto& tokens = s.sentence()->written->generation.tokens;
    const bool listed = std::any_of(choices.begin(), choices.end(),
                                    [&](const Prediction& p) { return is_written(s, step, p.id); });
    if (!listed && step < static_cast<int>(tokens.size()))
        choices.push_back(
            {tokens[static_cast<size_t>(step)].id, tokens[static_cast<size_t>(step)].probability});
    for (size_t i = 0; i < choices.size(); ++i, y += 26) {
        const bool on = is_written(s, step, choices[i].id);
        if (draw_choice(s, column, y, path + std::to_string(i), prediction_label(*s.model(), choices[i].id),
                        choices[i].probability, on))
            go_on_from(s, step, choices[i].id);
    }
    return y;
}

/// The step at which the model was least sure of what it wrote.
int least_certain(const Generation& generation) {
    const auto it = std::min_element(
        generation.tokens.begin(), generation.tokens.end(),
        [](const GeneratedToken& a, const GeneratedToken& b) { return a.probability < b.probability; });
    return static_cast<int>(it - generation.tokens.begin());
}

float draw_sources(Scene& s, Rect column, float y, const WordAlignment& a, std::pair<int, int> cell,
                   size_t max) {
    Ui& ui = s.ui;
    y = draw_heading(ui, column, y, a.rows[static_cast<size_t>(cell.first)] + " attends to", "weight");
    std::vector<int> order;
    for (int c = 0; c < static_cast<int>(a.columns.size()); ++c) order.push_back(c);
    std::stable_sort(order.begin(), order.end(),
                     [&](int x, int z) { return a.weights(cell.first, x) > a.weights(cell.first, z); });
    for (size_t i = 0; i < std::min(max, order.size()); ++i, y += 26) {
        const int c = order[i];
        draw_choice(s, column, y, "", std::to_string(c) + " " + a.columns[static_cast<size_t>(c)],
                    std::max(0.0f, a.weights(cell.first, c)), i == 0, 3);
    }
    return y;
}

void draw_pairs(Scene& s, Rect column, float y, const WordAlignment& a, std::pair<int, int> cell,
                float bottom) {
    Ui& ui = s.ui;
    const float line = 20;
    const int room = static_cast<int>((bottom - y - 26) / line), rows = static_cast<int>(a.rows.size());
    if (room < 2) return;
    y = draw_heading(ui, column, y, "Strongest source of each word", "");
    const int first = std::clamp(cell.first - room + 1, 0, std::max(0, rows - room));
    for (int r = first; r < std::min(rows, first + room); ++r, y += line) {
        const bool on = r == cell.first;
        ui.text.draw(column.x, y, kCaptionMono, on ? ui.colors->accent_text : ui.colors->t2,
                     ui.text.fitted(kCaptionMono, a.rows[static_cast<size_t>(r)], column.w * 0.42f));
        ui.text.draw(
            column.x + column.w * 0.46f, y, kCaptionMono, on ? ui.colors->t1 : ui.colors->t2,
            ui.text.fitted(kCaptionMono, a.columns[static_cast<size_t>(a.strongest[static_cast<size_t>(r)])],
                           column.w * 0.5f));
    }
}

}  // namespace

/// Which heads count, where they are chosen; else the ranked heads.
void draw_alignment_list(Scene& s, Rect area) {
    s.of<AlignState>().of == AlignOf::chosen ? draw_layer_heads(s, area) : draw_head_ranking(s, area);
}

void draw_alignment_inspector(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = shown_alignment(s);
    if (!found || !s.answer->picture) return;
    const WordAlignment& a = found->answer;
    const auto cell = focused_words(s, a);
    const auto shown = s.shown_cell();
    const int step = shown ? step_of(s, shown->first) : -1;
    const float pad = size::inspector_pad, mid = area.y + 26;
    ui.hairline(area.x, area.y + 48, area.right(), area.y + 48);
    ui.name("inspector/title", {area.x, area.y, area.w, 48});
    const std::string& word = a.rows[static_cast<size_t>(cell.first)];
    const char* what = found->asked.as_read                      ? "being read"
                       : step >= 0 && step == s.sentence()->step ? "being chosen"
                                                                 : "chosen";
    const float w = ui.text.draw(area.x + pad, mid, kTitleMono, ui.colors->accent_text,
                                 ui.text.fitted(kTitleMono, word, area.w - 2 * pad - 120));
    ui.text.draw(area.x + pad + w + 8, mid + 2, kCaptionMono, ui.colors->t3, std::to_string(cell.first));
    ui.text.draw_right(area.right() - pad, mid + 2, kCaption, ui.colors->t2, what);
    const Rect column{area.x + pad, area.y, area.w - 2 * pad, area.h},
        save{column.x, area.bottom() - 48, column.w, size::button};
    const bool low = area.h < 720;
    float y = area.y + 74;
    ui.clip({area.x, area.y, area.w, save.y - 8 - area.y});
    if (step >= 0) {
        y = draw_alternatives(s, column, y, step, low ? 4 : 5, "Alternatives at this step", "align/choice/");
        ui.text.draw(column.x, y, kCaption, ui.colors->t3, "Click one to continue from it.");
        y = draw_rule(ui, area, y + 20);
        const Generation& generation = s.sentence()->written->generation;
        const int unsure = generation.tokens.empty() ? step : least_certain(generation);
        if (!low && unsure != step) {
            y = draw_alternatives(s, column, y, unsure, 4,
                                  "Least certain: step " + std::to_string(unsure) + ", " +
                                      s.sentence()->written->labels[static_cast<size_t>(unsure)],
                                  "align/unsure/");
            y = draw_rule(ui, area, y);
        }
    }
    y = draw_sources(s, column, y, a, cell, low ? 3 : 4);
    draw_pairs(s, column, draw_rule(ui, area, y), a, cell, save.y - 8);
    ui.unclip();
    if (ui.button("save", save, "Save figure…")) s.send("save figure");
}

std::vector<NumberTable> alignment_numbers(const Scene& s) {
    const auto* found = s.found<WordAlignmentWanted>();
    if (!found) return {};
    const WordAlignment& a = found->answer;
    Matrix rest(static_cast<Index>(a.rows.size()), 2);
    for (size_t r = 0; r < a.rows.size(); ++r)
        rest.row(static_cast<Index>(r)) << static_cast<float>(a.strongest[r]), a.entropy[r];
    return {{"alignment", "target", "source", a.rows, a.columns, shown_only(a.weights)},
            {"strongest source and entropy in bits",
             "target",
             "",
             a.rows,
             {"strongest source", "entropy"},
             std::move(rest)}};
}

}  // namespace headlight
