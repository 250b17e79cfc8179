#include "parts/map_parts.h"

#include <algorithm>
#include <array>

namespace headlight {

namespace {

constexpr float kSmallestFramed = 5;

}  // namespace

Shades shown_shades(const Scene& s) {
    const HeadPicture& p = *s.answer->picture;
    if (p.is_mixing) return {signed_contrast(s.session.preferences.contrast), p.largest, p.percentile, true};
    return {resolve_contrast(s.session.preferences.contrast, std::max(s.queries(), s.keys())), p.largest,
            p.percentile};
}

const Colormap& shown_colormap(const Scene& s) {
    return s.is_mixing() ? signed_colormap(s.ui.colors->dark)
                         : colormap(s.session.preferences.colormap, s.ui.colors->dark);
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
    const std::string applied = shown_shades(s).row().help;
    s.ui.tooltip("contrast/said", s.ui.over(bar.last()), "How weights become colors: " + applied + ".");
}

void draw_color_bar(Ui& ui, const ColorBar& bar, Rect at) {
    const bool upright = at.h > at.w;
    const ColorBarShape shape = shape_of(
        bar, {double(at.x), double(at.y), double(upright ? at.h : at.w), upright, double(kCaption.points)});
    const auto point = [](ColorBarShape::Point p) { return ImVec2{float(p.x), float(p.y)}; };
    const ImVec2 corner = point(shape.corner), size = point(shape.size);
    const Rect box{corner.x, corner.y, size.x, size.y};
    ui.gradient(box, *bar.colors);
    ui.frame(box, ui.colors->l2);
    for (const auto& [from, to] : shape.ticks)
        ui.fill({float(from.x), ui.whole(float(from.y)), float(to.x - from.x), ui.line()}, ui.colors->l2);
    for (const ColorBarShape::Text& t : shape.texts) {
        const Font font = t.face == Face::mono ? kCaptionMono : kCaption;
        const float shares[] = {0, 0.5f, 1}, wide = ui.text.width(font, t.text);
        ui.text.draw(float(t.at.x) - wide * row_of(shares, t.align), float(t.at.y), font,
                     t.face == Face::mono ? ui.colors->t2 : ui.colors->t3, t.text);
    }
    if (!shape.mark) return;
    const auto& [a, b, c] = *shape.mark;
    ui.polygon(std::array<ImVec2, 3>{point(a), point(b), point(c)}, ui.colors->accent);
}

Rect level_bar(const Grid& map, float right) {
    constexpr float kType = float(kCaption.points);
    return {map.view.x, map.view.bottom() + gap::medium,
            std::clamp(right - map.view.x, kType, float(kMaxBar) * kType), kType};
}

Rect upright_bar(const Grid& map, float away) {
    constexpr float kLeastHigh = 120;
    return {map.view.right() + away + gap::section, map.view.y, float(kCaption.points),
            std::max(map.view.h, kLeastHigh)};
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

}  // namespace headlight
