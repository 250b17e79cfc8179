// Around the alignment: tokens on both sides, entropies, the bar of colors.
#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "parts/map_parts.h"
#include "parts/token_axis.h"
#include "views/align/align.h"

namespace headlight {

void draw_word_axes(Scene& s, Rect area, const AlignLayout& l, const WordAlignment& a,
                    const std::vector<std::string>& coming, std::pair<int, int> lit) {
    Ui& ui = s.ui;
    const Grid all = l.with_coming();
    TokenAxis rows{[&](int r) { return r < l.rows ? a.rows[r] : coming[r - l.rows]; }, "target", index_name};
    rows.room = kAlignNames;
    rows.lit = lit.first;
    rows.ink = [&](int r) { return r < l.rows ? ui.colors->t1 : ui.colors->t3; };
    rows.draw_rows(ui, all);
    TokenAxis columns{[&](int c) { return shorten_middle(a.columns[c], 14); }, "source", index_name};
    columns.lit = lit.second;
    columns.room = kWordRoom;
    columns.lean = l.lean;
    columns.lit_ink = ui.colors->t1;
    columns.lit_back = ui.colors->bg3;
    columns.draw_columns(ui, l);
    name_axes(ui, l, rows, columns, 0);
}

void draw_coming(Scene& s, const AlignLayout& l) {
    if (!l.coming) return;
    const Rect r{l.view.x, l.view.bottom(), l.view.w, l.h * float(l.coming)};
    s.ui.frame(r, s.ui.colors->l1);
    if (r.h >= 16) caption(s.ui, r, "not yet written", Flush::center);
}

/// How undecided each row is: 0 where one column has all the weight.
void draw_entropy(Scene& s, const AlignLayout& l, const WordAlignment& a, int highlighted) {
    constexpr float kBar = 28, kNumber = 40, kMax = 8;
    Ui& ui = s.ui;
    const float max = std::log2(std::max(2.0f, float(l.columns)));
    const int step = label_step(l.h, 16);
    const Rect side{l.view.right() + gap::large, l.view.y, kBar + kNumber, l.view.h};
    Rect title{side.x, l.view.y - gap::tight - size::line, side.w, size::line};
    if (l.lean == Lean::slanted) take_left(title, 0, gap::wide);  // where the last label leans over
    caption(ui, title, "H, bits");
    for (int r = 0; r < l.rows; ++r) {
        Rect line{side.x, l.y(r), side.w, l.h};
        const bool on = r == highlighted;
        ui.bar(band(take_left(line, kBar, gap::close), std::clamp(l.h - 1, 1.0f, kMax)), a.entropy[r] / max,
               on ? ui.colors->accent : ui.colors->t3);
        if (r % step == 0 || on)
            write(ui, line, kCaptionMono, on ? ui.colors->accent_text : ui.colors->t2,
                  decimals(a.entropy[r], 1));
    }
}

void draw_bar(Scene& s, const AlignLayout& l, const WordAlignment& a) {
    constexpr float kAt = 104, kColorBar = 14, kLeastHigh = 120;
    if (s.of<AlignState>().marks == AlignMarks::hard) return;
    const Rect at{l.view.right() + kAt, l.view.y, kColorBar, std::max(l.with_coming().view.h, kLeastHigh)};
    const Colormap& map = colormap(s.session.preferences.colormap, s.ui.colors->dark);
    draw_color_bar(s.ui, weight_bar(map, shades_of(s.session.preferences.contrast, a.weights)), at);
}

}  // namespace headlight
