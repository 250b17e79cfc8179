// Token labels, color bar and caption of the large heat map.
#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "views/changes.h"
#include "views/heat_map.h"
#include "views/map_parts.h"
#include "views/page.h"

namespace headlight {

namespace {

void draw_axis_label(Scene& s, const MapLayout& l, int i, bool down, bool on) {
    Ui& ui = s.ui;
    const bool query_axis = down == (s.session.preferences.queries == Axis::rows);
    const ImU32 ink = on && query_axis ? ui.colors->accent_text : ui.colors->t1,
                faint = on && query_axis ? ui.colors->accent_text : ui.colors->t3;
    const ImU32 back = query_axis ? ui.colors->accent_fill : ui.colors->bg3;
    const float x = l.x(i) + l.cell / 2, y = l.y(i) + l.cell / 2;
    if (down ? y < l.map.y - 1 || y > l.map.bottom() + 1 : x < l.map.x - 1 || x > l.map.right() + 1) return;
    const std::string label = shorten_middle(map_labels(s, down)[i], 14), index = std::to_string(i);
    if (down) {
        const float right = l.map.x - 12, room = 128 - 24 - 12 - 34;
        const std::string text = ui.text.fitted(kCaptionMono, label, room);
        if (on) {
            const float high = std::max(l.cell, 20.0f);
            ui.fill({l.map.x - 88, y - high / 2, 84, high}, ui.colors->bg1);
            ui.fill({l.map.x - 88, y - high / 2, 84, high}, back);
        }
        ui.text.draw_right(right, y, kCaptionMono, ink, text);
        ui.text.draw_right(right - std::max(room - 24, ui.text.width(kCaptionMono, text)) - 6, y,
                           kCaptionMono, faint, index);
        return;
    }
    if (l.turned) {
        draw_slanted(ui, {x + 2, l.map.y - 11}, ink, label, on ? back : 0);
        return;
    }
    if (on) {
        const float w = std::max(l.cell, ui.text.width(kCaptionMono, label) + 8);
        ui.fill({x - w / 2, l.map.y - 44, w, 40}, back);
    }
    ui.text.draw_centered(x, l.map.y - 33, kCaptionMono, faint, index);
    ui.text.draw_centered(x, l.map.y - 14, kCaptionMono, ink, label);
}

/// Every step-th label, but none under the one that is lit.
void draw_axis(Scene& s, const MapLayout& l, bool down, int highlighted) {
    const float apart = down || !l.turned ? 19 : 26;
    for (int i = 0; i < (down ? l.down : l.across); i += down ? l.step_down : l.step_across)
        if (highlighted < 0 || (i != highlighted && std::abs(float(i - highlighted)) * l.cell >= apart) ||
            (l.step_down == 1 && i != highlighted))
            draw_axis_label(s, l, i, down, false);
    if (highlighted >= 0) draw_axis_label(s, l, highlighted, down, true);
}

}  // namespace

void draw_map_labels(Scene& s, const MapLayout& l, std::optional<std::pair<int, int>> cell) {
    const bool rows = s.session.preferences.queries == Axis::rows;
    draw_axis(s, l, true, !cell ? -1 : rows ? cell->first : cell->second);
    draw_axis(s, l, false, !cell ? -1 : rows ? cell->second : cell->first);
}

void draw_color_scale(Scene& s, const MapLayout& l, std::optional<std::pair<int, int>> cell) {
    const HeadPicture& p = *s.answer->picture;
    const Rect bar{l.map.right() + 32, l.map.y, 14, l.bar_height()};
    const auto place = [&] {
        return scale_position(s.session.preferences.scale, s.weight(cell->first, cell->second), p.largest,
                              p.largest_of_row(cell->first));
    };
    draw_weight_bar(s, bar, p.largest, cell ? std::optional(place()) : std::nullopt);
}

void draw_map_caption(Scene& s, const MapLayout& l, Rect area) {
    Ui& ui = s.ui;
    const float y = l.map.y + std::max(l.map.h, l.bar_height()) + 20;
    const bool masked = s.sentence()->trace->rule(s.block()).mask_of(s.head()).hides_any();
    const std::string nothing = fully_masked_note(*s.sentence()->trace, s.block(), s.head());
    const int step = s.answer->picture->step;
    const std::string pooled = step == 1 ? ""
                                         : " Too long to show each weight: an entry is the largest of " +
                                               std::to_string(step) + " × " + std::to_string(step) + ".";
    const std::string sums =
        s.answer->picture->sink_dropped ? "First key left out for display; the rest of each " : "Each ";
    const std::string left =
        sums + (s.session.preferences.queries == Axis::rows ? "row" : "column") +
        (s.answer->picture->sink_dropped ? " made to sum to 1." : " sums to 1.") +
        (s.of<Painting>().brush != Brush::off ? " Drag to paint; Shift+drag inverts. Amber: painted."
         : !masked                            ? ""
         : l.cell * s.ui.scale >= 12          ? " Hatched: masked."
                                              : " Plain: masked.") +
        nothing + pooled;
    const std::string size = std::to_string(l.down) + " × " + std::to_string(l.across);
    const int covered = int(std::ceil(1 / (l.cell * ui.scale)));
    const std::string part = l.whole()
                                 ? ", every cell shown"
                                 : ", enlarged: " + std::to_string(int(l.map.h / l.cell + 0.5f)) + " × " +
                                       std::to_string(int(l.map.w / l.cell + 0.5f)) + " cells of it";
    const std::string right = l.cell * ui.scale >= 1
                                  ? size + part
                                  : size + ", each pixel is the largest of " + std::to_string(covered) +
                                        " × " + std::to_string(covered);
    const float end = std::max(
        l.map.right(), std::min(area.right() - 24, l.map.x + ui.text.width(kCaption, left + right) + 40));
    ui.text.draw(l.map.x, y, kCaption, ui.colors->t3, left);
    const bool one_line = l.map.x + ui.text.width(kCaption, left + right) + 20 <= end;
    if (one_line)
        ui.text.draw_right(end, y, kCaption, ui.colors->t3, right);
    else
        ui.text.draw(l.map.x, y + 17, kCaption, ui.colors->t3, right);
}

std::optional<Result<Drawing>> head_page_figure(const ViewPage& page, ThreadPool& pool) {
    return head_figure(page.answer->sentence->trace, figure_options(page), pool);
}

}  // namespace headlight
