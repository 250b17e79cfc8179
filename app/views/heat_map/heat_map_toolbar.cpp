// Draws the toolbar of the large heat map.
#include <algorithm>

#include "base/cast.h"
#include "parts/map_parts.h"
#include "views/heat_map/heat_map.h"

namespace headlight {

namespace {

const std::vector<std::string>& map_names() {
    static const std::vector<std::string> names(colormap_names().begin(), colormap_names().end());
    return names;
}

void choose_colors(Scene& s, Toolbar& bar) {
    const auto& names = map_names();
    const auto now = std::find(names.begin(), names.end(), s.session.preferences.colormap);
    if (const int c = bar.choice("Colors", "colors", names, narrow<int>(now - names.begin())); c >= 0)
        s.send("colormap", names[c]);
}

void choose_axis(Scene& s, Toolbar& bar) {
    const int now = static_cast<int>(s.session.preferences.queries);
    if (const int c = bar.choice("Queries", "queries", {"rows", "columns"}, now); c >= 0)
        s.send("queries", c == 0 ? "rows" : "columns");
}

void choose_marks(Scene& s, Toolbar& bar) {
    if (const int c =
            bar.choice("Marks", "marks", {"squares", "dots"}, static_cast<int>(s.session.preferences.marks));
        c >= 0)
        s.send("marks", c == 0 ? "squares" : "dots");
}

void hide_first_token(Scene& s, Toolbar& bar) {
    const bool hidden = s.session.preferences.drop_sink;
    const Hit h = bar.press("sink", "Hide first token", hidden);
    s.ui.tooltip(
        "sink", h,
        "Hides the first token, often an attention sink, and rescales the rest of each row to sum to 1.");
    if (h.clicked) s.send("drop sink", hidden ? "off" : "on");
}

/// Draws the button that opens the choices of the picture, one below the other.
void draw_display_button(Scene& s, Rect r) {
    constexpr float kWide = 300, kLine = 36;
    Ui& ui = s.ui;
    const Hit h = ui.control("map/more", r);
    const bool open = ImGui::IsPopupOpen("map/more/panel");
    ui.fill(r, h.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
    ui.frame(r, open ? ui.colors->accent : ui.colors->l2, 1, size::corner);
    write(ui, inset(r, gap::medium - 2, 0), kCaption, ui.colors->t1, "Display");
    ui.chevron({r.right() - 14, r.middle_y()}, 3.5f, ui.colors->t3);
    ui.pop_up("map/more", r, h.clicked, {kWide, 5 * kLine + 2 * gap::medium}, [&](Rect inside) {
        Rect rest = inset(inside, gap::large, gap::medium);
        const auto line = [&] { return Toolbar(ui, take_top(rest, kLine)); };
        Toolbar contrast = line(), colors = line(), axis = line(), marks = line(), first = line();
        choose_contrast(s, contrast);
        choose_colors(s, colors);
        choose_axis(s, axis);
        choose_marks(s, marks);
        hide_first_token(s, first);
    });
}

}  // namespace

float draw_heat_map_tools(Scene& s, Rect row) {
    constexpr float kDisplay = 92;
    const bool enlarged = s.of<HeatMapState>().seen.zoom > 1;
    const float back = enlarged ? s.ui.text.width(kCaption, "Show all") + gap::large : 0,
                combination = combination_width(s), wide = back + combination + kDisplay;
    Rect rest = row;
    rest = take_right(rest, std::min(wide, row.w));
    draw_display_button(s, band(take_right(rest, kDisplay), size::chip));
    if (back + combination > rest.w + 1) return kDisplay;
    Toolbar bar(s.ui, rest);
    bar.apart = gap::small;
    if (enlarged) {
        const Rect link = bar.take(s.ui.text.width(kCaption, "Show all"), gap::large);
        if (s.ui.link("map/fit", link.right(), link.middle_y(), "Show all")) s.send("zoom fit");
    }
    choose_combination(s, bar);
    return wide;
}

}  // namespace headlight
