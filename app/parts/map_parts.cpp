#include "parts/map_parts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "parts/token_axis.h"

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

}  // namespace

Shades shown_shades(const Scene& s) {
    const HeadPicture& p = *s.answer->picture;
    return {contrast_in_force(s.session.preferences.contrast, std::max(s.queries(), s.keys())), p.largest,
            p.percentile};
}

Shades row_shades(const Scene& s, int query) {
    Shades shades = shown_shades(s);
    shades.largest = s.answer->picture->largest_of_row(query);
    shades.percentile = std::min(shades.percentile, shades.largest);
    return shades;
}

void choose_contrast(Scene& s, Toolbar& bar) {
    std::vector<std::string> labels;
    for (const ContrastRow& row : contrasts())
        labels.push_back(bar.labels ? row.label : row.name + std::string(" contrast"));
    const int now = static_cast<int>(s.session.preferences.contrast);
    if (const int c = bar.choice("Contrast", "contrast", labels, now); c >= 0)
        s.send("contrast", contrasts()[c].name);
    const std::string in_force = shown_shades(s).row().help;
    s.ui.tooltip("contrast/said", s.ui.over(bar.last()), "How weights become colors: " + in_force + ".");
}

void draw_weight_bar(Scene& s, Rect bar, const Shades& shades, std::optional<float> marked) {
    constexpr int kTicks = 4;
    constexpr float kTick = 5, kNumber = 60, kTitle = 80;
    Ui& ui = s.ui;
    ui.gradient(bar, colormap(s.session.preferences.colormap, ui.colors->dark));
    ui.frame(bar, ui.colors->l2);
    caption(ui, {bar.x, bar.y - kPlainNames, kTitle, size::line}, shades.row().legend);
    for (int i = 0; i <= kTicks; ++i) {
        const float share = float(i) / kTicks, y = bar.bottom() - share * bar.h;
        const double value = shades.weight_at(share);
        ui.fill({bar.right(), ui.whole(y), kTick, ui.line()}, ui.colors->l2);
        const int digits = value > 0 && value < 0.01 ? 4 : shades.brightest(1) < 0.2f ? 3 : 2;
        write(ui, line_at({bar.right() + 2 * kTick, y, kNumber, 0}, y, size::line), kCaptionMono,
              ui.colors->t2, decimals(value, digits));
    }
    if (marked) mark(ui, {bar.x - 2, bar.bottom() - bar.h * *marked}, {1, 0}, {0, 1});
}

void draw_range_bar(Ui& ui, const RangeBar& bar) {
    ui.gradient(bar.at, bar.colors);
    ui.frame(bar.at, ui.colors->l2);
    const Rect under{bar.at.x, bar.at.bottom() + 2, bar.at.w, size::line};
    const std::string low = bar.is_signed ? signed_number(-bar.largest, bar.digits) : "0",
                      high = bar.is_signed ? signed_number(bar.largest, bar.digits)
                                           : fine_number(bar.largest, bar.digits);
    const float ends = widest_of(ui, kCaptionMono, {low, high}), zero = ui.text.width(kCaptionMono, "0");
    const auto say = [&](const std::string& text, Flush flush) {
        write(ui, under, kCaptionMono, ui.colors->t2, text, flush);
    };
    if (2 * ends + gap::tight <= under.w) say(low, Flush::left);
    if (bar.is_signed && 2 * ends + zero + 2 * gap::tight <= under.w) say("0", Flush::center);
    say(high, Flush::right);
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
