// Draws the numbers of a head beside its thumbnail.
#include <algorithm>
#include <cmath>

#include "views/all_heads/all_heads.h"

namespace headlight {

namespace {

constexpr float kWide = 320, kLine = 26, kFirstLine = 24, kTitleLine = 30, kCardFoot = 40;

/// Places the card beside the thumbnail, on the right if it fits.
Rect place_of_card(Rect area, Rect beside, float high) {
    const Rect inside = inset(area, gap::tight, gap::tight);
    const float right = beside.right() + gap::small, left = beside.x - gap::small - kWide;
    return {std::max(inside.x, right + kWide > inside.right() ? left : right),
            std::clamp(beside.y, inside.y, std::max(inside.y, inside.bottom() - high)), kWide, high};
}

/// Draws a statistic's name and value, and a bar if it has no unit.
void draw_statistic(Column& c, const HeadStatistic& statistic, float value, bool sorting) {
    constexpr float kBars = 132, kBarLength = 90;
    const bool known = !std::isnan(value), of_unit = *statistic.unit != 0;
    if (known && !of_unit) {
        Rect bar = c.line(size::bar);
        take_left(bar, kBars);
        c.ui.bar(take_left(bar, kBarLength), value, sorting ? c.ui.colors->accent : c.ui.colors->t3);
    }
    const std::string unit = known && of_unit ? " " + std::string(statistic.unit) : "";
    c.ui.tooltip("number/" + std::string(statistic.label), c.ui.over(c.line()), statistic.definition);
    c.pair(statistic.label, fine_number(value, of_unit ? 2 : 3) + unit, sorting);
}

}  // namespace

void draw_head_card(Scene& s, Rect area, Rect beside, int block, int head) {
    Ui& ui = s.ui;
    if (ui.on_page()) return;
    const std::string label = head_label(s, block, head);
    const float lines = kLine * float(kStatistics + (label.empty() ? 0 : 1));
    const Rect r = place_of_card(area, beside, kFirstLine + kTitleLine + lines + kCardFoot);
    ImDrawList* below = ui.list;
    ui.use_list(ImGui::GetForegroundDrawList());
    ui.fill(r, ui.colors->bg2, size::popup_corner);
    ui.frame(r, ui.colors->l2, 1, size::popup_corner);
    Column c(ui, inset(r, gap::large, 0), r.y + kFirstLine);
    c.pair_step = kLine;
    write(ui, c.line(), kTitle, ui.colors->t1, "Head " + head_name(s.model()->config, block, head));
    caption(ui, c.line(), "hover", Flush::right);
    c.skip(kTitleLine);
    if (!label.empty()) {
        write(ui, c.line(), kBody, ui.colors->accent_text, label);
        c.skip(kLine);
    }
    for (int i = 0; i < kStatistics; ++i)
        draw_statistic(c, head_statistics()[i], s.sentence()->heads[{block, head}].statistics[i],
                       s.of<AllHeadsState>().sort == i);
    c.skip(gap::close);
    caption(ui, c.line(), "Click to open, right-click to label.");
    ui.use_list(below);
}

}  // namespace headlight
