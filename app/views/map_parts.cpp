#include "views/map_parts.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headlight {

namespace {

constexpr float kSlant = -0.7854f, kSmallestFramed = 5;

void mark(Ui& ui, ImVec2 tip, ImVec2 along, ImVec2 across) {
    const ImVec2 foot{tip.x - 6 * along.x, tip.y - 6 * along.y};
    ui.polygon(std::array<ImVec2, 3>{{{foot.x - 4 * across.x, foot.y - 4 * across.y},
                                      tip,
                                      {foot.x + 4 * across.x, foot.y + 4 * across.y}}},
               ui.colors->accent);
}

}  // namespace

void draw_weight_bar(Scene& s, Rect bar, float largest, std::optional<float> marked) {
    Ui& ui = s.ui;
    const Scale scale = s.session.preferences.scale;
    ui.gradient(bar, colormap(s.session.preferences.colormap, ui.colors->dark));
    ui.frame(bar, ui.colors->l2);
    ui.text.draw(bar.x, bar.y - 14, kCaption, ui.colors->t3,
                 scale == Scale::row   ? "of row’s largest"
                 : scale == Scale::log ? "weight, log"
                                       : "weight");
    for (int i = 0; i <= 4; ++i) {
        const float share = float(i) / 4, y = bar.bottom() - share * bar.h;
        const double value = scale == Scale::row   ? share
                             : scale == Scale::log ? kLogFloor * std::pow(largest / kLogFloor, share)
                                                   : largest * share;
        ui.fill({bar.right(), ui.whole(y), 5, ui.line()}, ui.colors->l2);
        ui.text.draw(bar.right() + 10, y, kCaptionMono, ui.colors->t2,
                     decimals(value, value > 0 && value < 0.01 ? 4
                                     : largest < 0.2f          ? 3
                                                               : 2));
    }
    if (marked) mark(ui, {bar.x - 2, bar.bottom() - bar.h * *marked}, {1, 0}, {0, 1});
}

void draw_range_bar(Ui& ui, const RangeBar& bar) {
    ui.gradient(bar.at, bar.colors);
    ui.frame(bar.at, ui.colors->l2);
    const float y = bar.at.bottom() + 12;
    ui.text.draw(bar.at.x, y, kCaptionMono, ui.colors->t2,
                 bar.is_signed ? number(-bar.largest, bar.digits) : "0");
    if (bar.is_signed) ui.text.draw_centered(bar.at.middle_x(), y, kCaptionMono, ui.colors->t2, "0");
    ui.text.draw_right(bar.at.right(), y, kCaptionMono, ui.colors->t2,
                       (bar.is_signed ? "+" : "") + number(bar.largest, bar.digits));
    if (bar.marked)
        mark(ui, {bar.at.x + bar.at.w * std::clamp(*bar.marked, 0.0f, 1.0f), bar.at.y - 1}, {0, 1}, {1, 0});
}

void draw_crosshair(Ui& ui, const Crosshair& cross) {
    const auto& [map, cell, row, column, ink, frame] = cross;
    const float t = ui.line();
    for (const float y : {cell.y - t, cell.bottom() - t})
        if (row) ui.fill({map.x, y, map.w, t}, row);
    for (const float x : {cell.x - t, cell.right() - t})
        if (column) ui.fill({x, map.y, t, map.h}, column);
    if (std::min(cell.w, cell.h) >= kSmallestFramed)
        ui.frame({cell.x - t, cell.y - t, cell.w + t, cell.h + t}, ink, frame);
}

void draw_slanted(Ui& ui, ImVec2 from, ImU32 ink, const std::string& label, ImU32 back) {
    if (back) {
        const float w = ui.text.width(kCaptionMono, label) + 10, half = 9, c = 0.7071f;
        const ImVec2 o{from.x - 2, from.y + 1}, u{w * c, -w * c}, v{half * c, half * c};
        const std::array<ImVec2, 4> box{{{o.x - v.x, o.y - v.y},
                                         {o.x + u.x - v.x, o.y + u.y - v.y},
                                         {o.x + u.x + v.x, o.y + u.y + v.y},
                                         {o.x + v.x, o.y + v.y}}};
        ui.polygon(box, ui.colors->bg1);
        ui.polygon(box, back);
    }
    ui.text.draw(from.x, from.y, kCaptionMono, ink, label, kSlant);
}

}  // namespace headlight
