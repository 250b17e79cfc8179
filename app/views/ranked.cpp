// Values of all heads: as ranked rows, and as a layer × head grid.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "views/parts.h"

namespace headlight {

namespace {

struct RankedState {
    float scroll = 0;
};

float largest_of(const std::vector<float>& values) {
    float largest = 1e-6f;
    for (const float v : values) largest = std::isnan(v) ? largest : std::max(largest, std::abs(v));
    return largest;
}

void draw_row(Scene& s, Rect r, float names, const std::string& name, float value, float largest,
              const RankedHeads& heads, bool chosen, bool hovered) {
    Ui& ui = s.ui;
    const bool amber = chosen && heads.amber;
    const float left = r.x + 8, right = r.right() - 8, y = r.middle_y();
    if (chosen || hovered) ui.fill(r, amber ? ui.colors->accent_fill : ui.colors->bg3, size::corner);
    ui.text.draw(left, y, kBodyMono, amber ? ui.colors->accent_text : ui.colors->t1, name);
    ui.text.draw_right(right, y, kBodyMono, amber ? ui.colors->accent_text : ui.colors->t2,
                       (heads.is_signed && value > 0 ? "+" : "") + number(value, 3));
    if (std::isnan(value)) return;
    const Rect bar{left + names, y - 4, right - left - names - (heads.is_signed ? 72 : 64), 8};
    if (heads.is_signed)
        ui.signed_bar(bar, value / largest);
    else
        ui.bar(bar, value / largest, amber ? ui.colors->accent : chosen ? ui.colors->t1 : ui.colors->t3);
}

}  // namespace

std::optional<std::pair<int, int>> draw_ranked(Scene& s, Rect area, const ModelConfig& c,
                                               const RankedHeads& heads) {
    Ui& ui = s.ui;
    std::optional<std::pair<int, int>> pressed;
    float names = 48;
    for (int block = 0; block < c.blocks(); ++block)
        names = std::max(names, ui.text.width(kBodyMono, head_name(c, block, c.heads(block) - 1)) + 12);
    const float largest = largest_of(heads.values), row_h = area.h < 480 ? size::row_low : size::row,
                list_h = area.h - 34;
    const Rect rows{area.x - 8, area.y, area.w + 16, list_h};
    s.of<RankedState>().scroll =
        scrolled(ui, rows, row_h * float(heads.order.size()), s.of<RankedState>().scroll);
    ui.clip(rows);
    int below = 0;
    for (int i = 0; i < isize(heads.order); ++i) {
        const Rect r{rows.x, rows.y + row_h * float(i) - s.of<RankedState>().scroll, rows.w, row_h};
        const bool cut = r.bottom() > rows.bottom() + 1;
        below += cut;
        if (r.bottom() < rows.y || cut) continue;
        const AttentionHead at = c.head_at(heads.order[i]);
        const std::pair head{at.block, at.head};
        const std::string name = head_name(c, head.first, head.second);
        const Hit h = ui.hit(heads.path + name, r);
        draw_row(s, r, names, name, heads.values[heads.order[i]], largest, heads, heads.chosen == head,
                 h.hovered);
        if (h.hovered) s.pointed.head = head;
        if (h.clicked) pressed = head;
    }
    ui.unclip();
    if (below > 0)
        ui.text.draw(area.x, area.bottom() - 14, kCaption, ui.colors->t3, std::to_string(below) + " more");
    return pressed;
}

std::optional<std::pair<int, int>> draw_head_values(Scene& s, Rect area, const ModelConfig& c,
                                                    const std::vector<float>& values, bool is_signed,
                                                    const char* path) {
    Ui& ui = s.ui;
    std::optional<std::pair<int, int>> pressed;
    if (isize(values) != c.head_count()) return pressed;
    const float names = c.stacks.size() > 1 ? 72 : 28, top = area.y + 20;
    const float w = ui.whole(std::min((area.w - names) / float(c.max_heads()), 160.0f)),
                h = ui.whole(
                    std::min({(area.bottom() - top) / float(c.blocks()), 96.0f, std::max(w * 0.6f, 20.0f)}));
    if (w < 3 || h < 3) return pressed;
    const float largest = largest_of(values), gap = h >= 8 ? ui.line() : 0;
    const Colormap& colors = colormap(s.session.preferences.colormap, ui.colors->dark);
    const int every_head = label_step(w, 18), every_block = label_step(h, 14);
    for (int head = 0; head < c.max_heads(); head += every_head)
        ui.text.draw_centered(area.x + names + w * (float(head) + 0.5f), area.y + 10, kCaptionMono,
                              ui.colors->t3, std::to_string(head));
    for (int block = 0; block < c.blocks(); ++block) {
        const float y = top + h * float(block);
        if (block % every_block == 0)
            ui.text.draw_right(area.x + names - 8, y + h / 2, kCaptionMono, ui.colors->t3,
                               block_name(c, block));
        for (int head = 0; head < c.heads(block); ++head) {
            const Rect cell{area.x + names + w * float(head), y, w - gap, h - gap};
            const float v = values[c.head_index({block, head})];
            const std::string widget = path + head_name(c, block, head);
            const Hit hit = ui.hit(widget, cell);
            const ImU32 color = std::isnan(v) ? ui.colors->bg2
                                : is_signed   ? signed_color(ui.colors->dark, v / largest)
                                              : color_at(colors, v / largest);
            ui.fill(cell, color);
            const std::string text = (is_signed && v > 0 ? "+" : "") + number(v, 2);
            if (!std::isnan(v) && h >= 18 && ui.text.width(kCaptionMono, text) + 6 < w)
                ui.text.draw_centered(cell.middle_x(), cell.middle_y(), kCaptionMono, ink_on(color), text);
            if (std::pair{block, head} == std::pair{s.session.selection.block, s.session.selection.head})
                ui.frame(cell, ui.colors->accent, 2);
            if (hit.hovered) ui.frame(cell, ui.colors->hover, 1);
            if (hit.hovered) s.pointed.head = std::pair{block, head};
            if (hit.clicked) pressed = std::pair{block, head};
            ui.tooltip(
                widget, hit,
                "Head " + head_name(c, block, head) + ": " + (is_signed && v > 0 ? "+" : "") + number(v, 4));
        }
    }
    return pressed;
}

}  // namespace headlight
