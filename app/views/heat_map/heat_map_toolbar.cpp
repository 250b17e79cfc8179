// Draws the toolbar of the large heat map.
#include <algorithm>

#include "base/cast.h"
#include "parts/map_parts.h"
#include "views/heat_map/heat_map.h"

namespace headlight {

namespace {

constexpr const char* kHideFirst = "Hide first token";

const std::vector<std::string>& map_names() {
    static const std::vector<std::string> names(colormap_names().begin(), colormap_names().end());
    return names;
}

std::vector<std::string> axis_names(const std::string& before) {
    return {before + "rows", before + "columns"};
}
std::vector<std::string> mark_names() { return {"squares", "dots"}; }

void choose_colors(Scene& s, Toolbar& bar) {
    const auto& names = map_names();
    const auto now = std::find(names.begin(), names.end(), s.session.preferences.colormap);
    if (const int c = bar.choice("Colors", "colors", names, narrow<int>(now - names.begin())); c >= 0)
        s.send("colormap", names[c]);
}

/// `before`: stands in for the label in a narrow toolbar.
void choose_axis(Scene& s, Toolbar& bar, const std::string& before) {
    const int now = static_cast<int>(s.session.preferences.queries);
    if (const int c = bar.choice("Queries", "queries", axis_names(before), now); c >= 0)
        s.send("queries", c == 0 ? "rows" : "columns");
}

void choose_marks(Scene& s, Toolbar& bar, const char* label) {
    if (const int c = bar.choice(label, "marks", mark_names(), static_cast<int>(s.session.preferences.marks));
        c >= 0)
        s.send("marks", c == 0 ? "squares" : "dots");
}

void hide_first_token(Scene& s, Toolbar& bar) {
    const bool hidden = s.session.preferences.drop_sink;
    const Hit h = bar.press("sink", kHideFirst, hidden);
    s.ui.tooltip(
        "sink", h,
        "Hides the first token, often an attention sink, and rescales the rest of each row to sum to 1.");
    if (h.clicked) s.send("drop sink", hidden ? "off" : "on");
}

/// Returns the width of these choices in one line, without labels.
float width_of_choices(Scene& s, const Toolbar& bar, const std::string& before) {
    Ui& ui = s.ui;
    return ui.choice_width("", map_names()) + ui.choice_width("", axis_names(before)) +
           ui.choice_width("", mark_names()) + bar.press_width(kHideFirst) + 3 * bar.apart;
}

/// Folds the choices behind one button, if they would take a second line.
void fold_choices(Scene& s, Toolbar& bar) {
    constexpr float kWide = 240, kLine = 36;
    const Hit h = bar.press("map/more", "Display…", ImGui::IsPopupOpen("map/more/panel"));
    s.ui.tooltip("map/more", h, "Colors, queries as rows or columns, squares or dots, hide the first token.");
    s.ui.pop_up("map/more", bar.last(), h.clicked, {kWide, 4 * kLine + 2 * gap::medium}, [&](Rect inside) {
        Rect rest = inset(inside, gap::large, gap::medium);
        const auto line = [&] { return Toolbar(s.ui, take_top(rest, kLine)); };
        Toolbar colors = line(), axis = line(), marks = line(), first = line();
        choose_colors(s, colors);
        choose_axis(s, axis, "");
        choose_marks(s, marks, "Marks");
        hide_first_token(s, first);
    });
}

}  // namespace

float draw_heat_map_toolbar(Scene& s, Rect area) {
    constexpr float kRoomy = 868, kTight = 720;
    const Rect line = inset(take_top(area, size::view_header), size::center_pad, 0);
    Toolbar bar(s.ui, line, Toolbar::Lines::many);
    const bool tight = line.w < kTight;
    if (tight) bar.apart = gap::small;
    choose_combination(s, bar);
    const bool roomy = bar.labels = bar.rest().w > kRoomy;
    choose_contrast(s, bar);
    const std::string before = roomy ? "" : tight ? "query " : "queries in ";
    const bool enlarged = s.of<HeatMapState>().seen.zoom > 1;
    const float way_back = enlarged ? bar.apart + s.ui.text.width(kCaption, "Show all") : 0;
    if (!roomy && width_of_choices(s, bar, before) + way_back > bar.rest().w) {
        fold_choices(s, bar);
    } else {
        choose_colors(s, bar);
        choose_axis(s, bar, before);
        choose_marks(s, bar, "");
        hide_first_token(s, bar);
    }
    if (enlarged && bar.link("map/fit", "Show all")) s.send("zoom fit");
    return bar.bottom() - line.bottom();
}

}  // namespace headlight
