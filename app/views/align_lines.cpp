// Attention during translation as lines between the two sentences.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/utf8.h"
#include "views/align.h"
#include "views/map_parts.h"

namespace headlight {

namespace {

/// Words of one sentence beside each other, each in the middle of its place.
struct Row {
    const std::vector<std::string>& words;
    float left, pitch, y;
    float x(int i) const { return left + pitch * (float(i) + 0.5f); }
};

float natural_width(Ui& ui, const std::vector<std::string>& words) {
    float out = 0;
    for (const auto& w : words) out = std::max(out, ui.text.width(kBodyMono, shorten_middle(w, 16)));
    return out + 20;
}

Row row_of(Ui& ui, Rect area, const std::vector<std::string>& words, float y) {
    const float pitch = std::min(natural_width(ui, words), area.w / float(words.size()));
    return {words, area.middle_x() - pitch * float(words.size()) / 2, pitch, y};
}

int word_at(const Row& row, float x) {
    return std::clamp(int((x - row.left) / row.pitch), 0, isize(row.words) - 1);
}

/// Words level where they fit, leaning where they are close.
void draw_words(Scene& s, const Row& row, bool above, int highlighted, ImU32 highlight_ink, int known) {
    Ui& ui = s.ui;
    const bool level = natural_width(ui, row.words) <= row.pitch + 1;
    const int step = label_step(row.pitch, level ? 1 : 18);
    for (int i = 0; i < isize(row.words); ++i) {
        if (i % step && i != highlighted) continue;
        const std::string label = shorten_middle(row.words[i], 16);
        const ImU32 ink = i == highlighted ? highlight_ink : i >= known ? ui.colors->t3 : ui.colors->t1;
        if (level)
            ui.text.draw_centered(row.x(i), row.y + (above ? -16 : 16), kBodyMono, ink, label);
        else if (above)
            draw_slanted(ui, {row.x(i), row.y - 10}, ink, label);
        else
            ui.text.draw(row.x(i) - 4, row.y + 12, kCaptionMono, ink, label, 0.7854f);
    }
}

void draw_link(Scene& s, const Row& from, const Row& to, const WordAlignment& a, int row, int column,
               int focus) {
    Ui& ui = s.ui;
    const bool hard = s.of<AlignState>().marks == AlignMarks::hard, strongest = a.strongest[row] == column;
    const float w = hard ? (strongest ? 1.0f : 0.0f) : a.weights(row, column);
    if (w < 0.03f) return;
    const bool highlighted = row == focus;
    const bool marked = strongest && s.of<AlignState>().marks != AlignMarks::soft;
    const ImU32 ink = highlighted ? ui.colors->accent : marked ? ui.colors->t1 : ui.colors->t2;
    const float alpha = highlighted                                   ? std::max(0.35f, w)
                        : focus >= 0 && s.session.selection.focused() ? 0.12f * w + 0.04f
                                                                      : 0.15f + 0.6f * w;
    ui.stroke({from.x(column), from.y + 2}, {to.x(row), to.y - 2}, faded(ink, alpha),
              (marked ? 1.2f : 0.6f) + 4 * w);
}

/// Pointing at a word of either sentence lights its links; a click on one that is written locks it.
void answer_lines(Scene& s, const Rect& map, const Row& source, const Row& target, const WordAlignment& a) {
    const Hit h = s.ui.hit("align/lines/map", map);
    if (!h.hovered) return;
    if (h.mouse.y > map.middle_y()) {
        const int row = std::min(word_at(target, h.mouse.x), isize(a.rows) - 1);
        point_at_words(s, a, row, a.strongest[row]);
        if (h.clicked) lock_words(s, a, row, a.strongest[row]);
        return;
    }
    const int column = word_at(source, h.mouse.x);
    Index row = 0;
    a.weights.col(column).maxCoeff(&row);
    point_at_words(s, a, narrow<int>(row), column);
}

void draw_links(Scene& s, const Row& source, const Row& target, const WordAlignment& a, int focus) {
    for (const bool highlighted : {false, true})
        for (int r = 0; r < isize(a.rows); ++r)
            for (int c = 0; c < isize(a.columns); ++c)
                if ((r == focus) == highlighted) draw_link(s, source, target, a, r, c, focus);
}

}  // namespace

void draw_alignment_lines(Scene& s, Rect area, const Found<WordAlignmentWanted>& found) {
    constexpr float kPad = 40, kFoot = 48, kSideNames = 66;
    Ui& ui = s.ui;
    const WordAlignment& a = found.answer;
    std::vector<std::string> targets = a.rows;
    for (const auto& word : words_to_come(s, found)) targets.push_back(word);
    const float middle = area.y + area.h * 0.52f, half = std::clamp(area.h * 0.22f, 60.0f, 150.0f);
    const Rect inner = inset(area, kPad, 0), map = line_at(inner, middle, 2 * (half + kPad));
    const Row source = row_of(ui, inner, a.columns, middle - half),
              target = row_of(ui, inner, targets, middle + half);
    answer_lines(s, map, source, target, a);
    const auto cell = focused_words(s, a);
    draw_links(s, source, target, a, cell.first);
    draw_words(s, source, true, cell.second, ui.colors->t1, isize(a.columns));
    draw_words(s, target, false, cell.first, ui.colors->accent_text, isize(a.rows));
    const Rect line = inset(area, size::center_pad, 0);
    const auto name = [&](const Row& row, float y, const char* text) {
        if (row.left > line.x + kSideNames) caption(ui, line_at(line, y, size::line), text);
    };
    name(source, source.y - gap::large, "source");
    name(target, target.y + gap::large, "target");
    const int crossings = count_crossings(a.strongest);
    Rect foot = line;
    caption(ui, take_bottom(foot, kFoot),
            "Width: weight; lines under 0.03 are left out. " + std::to_string(crossings) +
                (crossings == 1 ? " pair" : " pairs") + " of strongest links cross.");
}

}  // namespace headlight
