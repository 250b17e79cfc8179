#include "views/map_parts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "views/token_axis.h"

namespace headlight {

namespace {

constexpr float kSlant = 0.7854f, kSmallestFramed = 5, kMarkLong = 6, kMarkHalf = 4;

void mark(Ui& ui, ImVec2 tip, ImVec2 along, ImVec2 across) {
    const ImVec2 foot{tip.x - kMarkLong * along.x, tip.y - kMarkLong * along.y},
        half{kMarkHalf * across.x, kMarkHalf * across.y};
    ui.polygon(
        std::array<ImVec2, 3>{{{foot.x - half.x, foot.y - half.y}, tip, {foot.x + half.x, foot.y + half.y}}},
        ui.colors->accent);
}

/// The weight that stands at a share of the bar's height, under a scale.
double weight_at(Scale scale, float share, float largest) {
    if (scale == Scale::row) return share;
    return scale == Scale::log ? kLogFloor * std::pow(largest / kLogFloor, share) : largest * share;
}

}  // namespace

void draw_weight_bar(Scene& s, Rect bar, float largest, std::optional<float> marked) {
    constexpr int kTicks = 4;
    constexpr float kTick = 5, kNumber = 60, kTitle = 80;
    Ui& ui = s.ui;
    const Scale scale = s.session.preferences.scale;
    ui.gradient(bar, colormap(s.session.preferences.colormap, ui.colors->dark));
    ui.frame(bar, ui.colors->l2);
    caption(ui, {bar.x, bar.y - kPlainNames, kTitle, size::line},
            scale == Scale::row   ? "of row’s largest"
            : scale == Scale::log ? "weight, log"
                                  : "weight");
    for (int i = 0; i <= kTicks; ++i) {
        const float share = float(i) / kTicks, y = bar.bottom() - share * bar.h;
        const double value = weight_at(scale, share, largest);
        ui.fill({bar.right(), ui.whole(y), kTick, ui.line()}, ui.colors->l2);
        const int digits = value > 0 && value < 0.01 ? 4 : largest < 0.2f ? 3 : 2;
        write(ui, line_at({bar.right() + 2 * kTick, y, kNumber, 0}, y, size::line), kCaptionMono,
              ui.colors->t2, decimals(value, digits));
    }
    if (marked) mark(ui, {bar.x - 2, bar.bottom() - bar.h * *marked}, {1, 0}, {0, 1});
}

void draw_range_bar(Ui& ui, const RangeBar& bar) {
    ui.gradient(bar.at, bar.colors);
    ui.frame(bar.at, ui.colors->l2);
    const Rect under{bar.at.x, bar.at.bottom() + 2, bar.at.w, size::line};
    const auto say = [&](const std::string& text, Flush flush) {
        write(ui, under, kCaptionMono, ui.colors->t2, text, flush);
    };
    say(bar.is_signed ? number(-bar.largest, bar.digits) : "0", Flush::left);
    if (bar.is_signed) say("0", Flush::center);
    say((bar.is_signed ? "+" : "") + number(bar.largest, bar.digits), Flush::right);
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

void draw_slanted(Ui& ui, ImVec2 from, ImU32 ink, const std::string& label, ImU32 back, bool down) {
    constexpr float kLonger = 10, kHalfHigh = 9;
    const float way = down ? 1 : -1;
    if (back) {
        const float along = slanted_height(ui.text.width(kCaptionMono, label) + kLonger),
                    half = slanted_height(kHalfHigh);
        const ImVec2 o{from.x - 2, from.y - way}, u{along, way * along}, v{half, -way * half};
        const std::array<ImVec2, 4> box{{{o.x - v.x, o.y - v.y},
                                         {o.x + u.x - v.x, o.y + u.y - v.y},
                                         {o.x + u.x + v.x, o.y + u.y + v.y},
                                         {o.x + v.x, o.y + v.y}}};
        ui.polygon(box, ui.colors->bg1);
        ui.polygon(box, back);
    }
    ui.text.draw(from.x, from.y, kCaptionMono, ink, label, way * kSlant);
}

}  // namespace headlight
