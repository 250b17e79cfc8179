// Around the alignment: tokens on both sides, entropies, the bar of colors.
#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "views/align.h"
#include "views/map_parts.h"

namespace headlight {

namespace {

void draw_row_label(Scene& s, const AlignLayout& l, float y, int index, const std::string& label, bool on,
                    bool coming) {
    Ui& ui = s.ui;
    if (on) {
        const float high = std::max(std::min(l.h, 64.0f), 20.0f);
        ui.fill({l.map.x - 148, y - high / 2, 144, high}, ui.colors->bg1);
        ui.fill({l.map.x - 148, y - high / 2, 144, high}, ui.colors->accent_fill);
    }
    const ImU32 ink = on ? ui.colors->accent_text : coming ? ui.colors->t3 : ui.colors->t1;
    ui.text.draw(l.map.x - 138, y, kCaptionMono, on ? ink : ui.colors->t3, std::to_string(index));
    ui.text.draw_right(l.map.x - 12, y, kCaptionMono, ink, ui.text.fitted(kCaptionMono, label, 98));
}

}  // namespace

void draw_row_labels(Scene& s, const AlignLayout& l, const WordAlignment& a,
                     const std::vector<std::string>& coming, int highlighted) {
    const int step = label_step(l.h, 16);
    for (int r = 0; r < l.rows + l.coming; ++r) {
        if (r != highlighted &&
            (r % step || (highlighted >= 0 && std::abs(float(r - highlighted)) * l.h < 18 && step > 1)))
            continue;
        const std::string& label = r < l.rows ? a.rows[r] : coming[r - l.rows];
        draw_row_label(s, l, l.y(r) + l.h / 2, r, label, r == highlighted, r >= l.rows);
    }
}

void draw_column_labels(Scene& s, const AlignLayout& l, const WordAlignment& a, int highlighted) {
    Ui& ui = s.ui;
    const int step = label_step(l.w, l.turned ? 24 : 16);
    for (int c = 0; c < l.columns; ++c) {
        if (c % step && c != highlighted) continue;
        const float x = l.x(c) + l.w / 2;
        const std::string label = shorten_middle(a.columns[c], 14);
        if (l.turned) {
            draw_slanted(ui, {x + 2, l.map.y - 11}, c == highlighted ? ui.colors->accent_text : ui.colors->t1,
                         label);
            continue;
        }
        if (c == highlighted) ui.fill({l.x(c), l.map.y - 44, l.w - ui.line(), 40}, ui.colors->bg3);
        ui.text.draw_centered(x, l.map.y - 33, kCaptionMono, ui.colors->t3, std::to_string(c));
        ui.text.draw_centered(x, l.map.y - 14, kCaptionMono, ui.colors->t1, label);
    }
    if (l.turned) return;
    ui.text.draw(l.map.x - 138, l.map.y - 33, kCaption, ui.colors->t3, "source →");
    ui.text.draw(l.map.x - 138, l.map.y - 14, kCaption, ui.colors->t3, "target ↓");
}

void draw_coming(Scene& s, const AlignLayout& l) {
    if (!l.coming) return;
    const Rect r{l.map.x, l.map.bottom(), l.map.w, l.h * float(l.coming)};
    s.ui.frame(r, s.ui.colors->l1);
    if (r.h >= 16)
        s.ui.text.draw_centered(r.middle_x(), r.middle_y(), kCaption, s.ui.colors->t3, "not yet written");
}

/// How undecided each row is: 0 where one column has all the weight.
void draw_entropy(Scene& s, const AlignLayout& l, const WordAlignment& a, int highlighted) {
    Ui& ui = s.ui;
    const float x = l.map.right() + 16, wide = 28, max = std::log2(std::max(2.0f, float(l.columns)));
    const int step = label_step(l.h, 16);
    ui.text.draw(x + (l.turned ? 22 : 0), l.map.y - 14, kCaption, ui.colors->t3, "H, bits");
    for (int r = 0; r < l.rows; ++r) {
        const float y = l.y(r) + l.h / 2, value = a.entropy[r], high = std::clamp(l.h - 1, 1.0f, 8.0f);
        ui.bar({x, y - high / 2, wide, high}, value / max,
               r == highlighted ? ui.colors->accent : ui.colors->t3);
        if (r % step == 0 || r == highlighted)
            ui.text.draw(x + wide + 6, y, kCaptionMono,
                         r == highlighted ? ui.colors->accent_text : ui.colors->t2, decimals(value, 1));
    }
}

void draw_bar(Scene& s, const AlignLayout& l, const WordAlignment& a) {
    if (s.of<AlignState>().marks == AlignMarks::hard) return;
    const Rect bar{l.map.right() + 104, l.map.y, 14, std::max(l.h * float(l.rows + l.coming), 120.0f)};
    draw_weight_bar(s, bar, a.weights.maxCoeff(), std::nullopt);
}

}  // namespace headlight
