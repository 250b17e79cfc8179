// Draws pending rows, and the entropy of each row.
#include <algorithm>
#include <cmath>

#include "views/align/align.h"

namespace headlight {

void draw_pending(Scene& s, const Grid& g, int pending) {
    if (pending == 0) return;
    const float high = g.h * float(pending);
    const Rect r{g.view.x, g.view.bottom() - high, g.view.w, high};
    s.ui.frame(r, s.ui.colors->l1);
    if (r.h >= 16) caption(s.ui, r, "not yet generated", Flush::center);
}

void draw_entropy(Scene& s, const MatrixLayout& layout, const WordAlignment& a, int highlighted) {
    constexpr float kBar = 28, kNumber = 40, kMax = 8;
    Ui& ui = s.ui;
    const Grid& l = layout.grid;
    const float max = std::log2(std::max(2.0f, float(l.columns)));
    const int step = label_step(l.h, 16);
    const Rect side{l.view.right() + gap::large, l.view.y, kBar + kNumber, l.view.h};
    Rect title{side.x, l.view.y - gap::tight - size::line, side.w, size::line};
    if (layout.lean == Lean::slanted) take_left(title, 0, gap::wide);  // the last slanted label reaches here
    caption(ui, title, "H, bits");
    for (int r = 0; r < isize(a.rows); ++r) {
        Rect line{side.x, l.y(r), side.w, l.h};
        const bool on = r == highlighted;
        ui.bar(band(take_left(line, kBar, gap::close), std::clamp(l.h - 1, 1.0f, kMax)), a.entropy[r] / max,
               on ? ui.colors->accent : ui.colors->t3);
        if (r % step == 0 || on)
            write(ui, line, kCaptionMono, on ? ui.colors->accent_text : ui.colors->t2,
                  decimals(a.entropy[r], 1));
    }
}

}  // namespace headlight
