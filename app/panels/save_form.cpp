// Edits how the figure is saved: preset, size, font, texts, and parts.
#include <algorithm>
#include <cstdio>
#include <tuple>

#include "base/cast.h"
#include "figure/file_formats.h"
#include "panels/save_menu.h"
#include "parts/controls.h"
#include "session/presets.h"

namespace headlight {

namespace {

/// Draws rows "label control", one below the other.
struct Form {
    Ui& ui;
    Rect rest;
    static constexpr float kLabel = 104;

    Rect row(const char* label) {
        Rect r = take_top(rest, size::button, gap::close);
        caption(ui, take_left(r, kLabel), label);
        return r;
    }
    int choose(const char* label, const char* path, const std::vector<std::string>& items, int current) {
        const Rect r = row(label);
        float width = 0;
        return ui.drop_down(path, r.x, r.middle_y(), items, current, width, r.w);
    }
    /// Draws options side by side if they fit, to save a click.
    int choose_of_few(const char* label, const char* path, const std::vector<std::string>& items,
                      int current) {
        if (ui.segments_width(items) > rest.w - kLabel) return choose(label, path, items, current);
        const Rect r = row(label);
        return ui.segments(path, r.x, r.middle_y(), {items, {}, current});
    }
    void type(const char* label, const char* path, const char* hint, std::string& value) {
        ui.text_input(path, row(label), hint, value, false);
    }
};

std::string size_text(const FigureStyle& f) {
    char text[64] = "";
    if (f.width_mm > 0 && f.height_mm > 0)
        std::snprintf(text, sizeof text, "%g x %g mm", f.width_mm, f.height_mm);
    else if (f.width_mm > 0)
        std::snprintf(text, sizeof text, "%g mm", f.width_mm);
    else if (f.width_px > 0 && f.height_px > 0)
        std::snprintf(text, sizeof text, "%g x %g px", f.width_px, f.height_px);
    else if (f.width_px > 0)
        std::snprintf(text, sizeof text, "%g px", f.width_px);
    return text;
}

/// Parses "85 mm", "85 x 60 mm", "1600x900 px" or "1600"; ignores incomplete input.
void read_size(const std::string& text, FigureStyle& f) {
    constexpr std::pair<double, double> kMillimeters{10, 2000}, kPixels{16, 30000};  // min and max
    double width = 0, height = 0;
    char unit[8] = "";
    const bool both = std::sscanf(text.c_str(), " %lf x %lf %7s", &width, &height, unit) >= 2;
    if (!both) height = 0;
    if (!both && !text.empty() && std::sscanf(text.c_str(), " %lf %7s", &width, unit) < 1) return;
    const bool mm = std::string_view(unit) == "mm";
    const auto [min, max] = mm ? kMillimeters : kPixels;
    const auto allowed = [&, min = min, max = max](double side) { return side >= min && side <= max; };
    if (!text.empty() && (!allowed(width) || (height != 0 && !allowed(height)))) return;
    f.width_mm = mm ? width : 0;
    f.height_mm = mm ? height : 0;
    f.width_px = mm || text.empty() ? 0 : width;
    f.height_px = mm || text.empty() ? 0 : height;
}

/// Applies the preset's settings that belong to the whole window by their commands.
void use_preset(const Scene& s, const FigurePreset& preset) {
    SaveMenu& menu = s.of<SaveMenu>();
    FigureStyle style = sharp_style();
    style.title = menu.style.title;
    style.caption = menu.style.caption;
    if (!apply_preset(style, preset)) return;
    menu.style = style;
    menu.size = size_text(style);
    menu.preset = preset.name;
    for (const char* field : {"colormap", "contrast", "queries", "marks"})
        if (const auto set = preset.fields.find(field); set != preset.fields.end())
            s.send(field, set->second);
    if (preset.fields.count("drop-sink")) s.send("drop sink", style.drop_sink ? "on" : "off");
}

void choose_preset(Scene& s, Form& form) {
    std::vector<std::string> names{"none"};
    int current = 0;
    for (const FigurePreset& p : s.of<SaveMenu>().presets) {
        if (p.name == s.of<SaveMenu>().preset) current = isize(names);
        names.push_back(p.name);
    }
    const int chosen = form.choose_of_few("Preset", "figure/preset", names, current);
    if (chosen == 0) use_preset(s, {"", {}});
    if (chosen > 0) use_preset(s, s.of<SaveMenu>().presets[chosen - 1]);
}

/// Draws a choice of numbers, including the active one.
void choose_number(Form& form, const char* label, const char* path, const char* unit,
                   std::vector<double> values, double& value) {
    if (std::find(values.begin(), values.end(), value) == values.end())
        values.insert(std::lower_bound(values.begin(), values.end(), value), value);
    std::vector<std::string> items;
    for (const double v : values) {
        char text[32];
        std::snprintf(text, sizeof text, "%g %s", v, unit);
        items.push_back(text);
    }
    const int current = narrow<int>(std::find(values.begin(), values.end(), value) - values.begin());
    if (const int c = form.choose(label, path, items, current); c >= 0) value = values[c];
}

void draw_toggles(Scene& s, Form& form, bool own) {
    constexpr int kAcross = 3;
    FigureStyle& f = s.of<SaveMenu>().style;
    std::vector<std::tuple<const char*, const char*, bool*>> all{
        {"figure/transparent", "transparent", &f.transparent}, {"figure/methods", "methods", &f.methods}};
    if (is_html_path(s.of<SaveMenu>().path))
        all = {{"figure/exact", "exact weights", &f.exact}};
    else if (own)
        all.insert(all.end(), {{"figure/labels", "labels", &f.labels},
                               {"figure/axes", "axis titles", &f.axis_titles},
                               {"figure/bar", "color bar", &f.color_bar},
                               {"figure/grid", "grid lines", &f.grid_lines},
                               {"figure/values", "values", &f.values},
                               {"figure/words", "words", &f.join_words}});
    Rect line;
    for (int i = 0; i < isize(all); ++i) {
        const auto& [path, label, on] = all[i];
        if (i % kAcross == 0) line = take_top(form.rest, size::chip, gap::small);
        s.ui.toggle(path, nth_column(line, i % kAcross, kAcross, gap::small), label, *on);
    }
    take_top(form.rest, 0, gap::tight);
}

/// Whether a preset may be written under the typed name; replaces an existing one only when saving is
/// requested twice.
bool settle_preset(SaveMenu& menu) {
    const bool there = std::any_of(menu.presets.begin(), menu.presets.end(),
                                   [&](const FigurePreset& p) { return p.name == menu.preset_typed; });
    if (!there || is_built_in_preset(menu.preset_typed) || menu.may_replace_preset == menu.preset_typed)
        return true;
    menu.may_replace_preset = menu.preset_typed;
    menu.failed = true;
    menu.result = "Preset " + menu.preset_typed + " already exists. Save again to replace it.";
    return false;
}

void keep_as_preset(const Scene& s) {
    SaveMenu& menu = s.of<SaveMenu>();
    menu.presets = all_presets();
    if (!settle_preset(menu)) return;
    const Preferences& shown = s.session.preferences;
    FigureStyle style = menu.style;
    style.colormap = shown.colormap;
    style.contrast = shown.contrast;
    style.queries = shown.queries;
    style.marks = shown.marks;
    style.drop_sink = shown.drop_sink;
    const Status kept = save_preset(preset_of(menu.preset_typed, style));
    menu.failed = !kept;
    menu.result = kept ? "Saved as preset " + menu.preset_typed + ", also available to render --preset."
                       : kept.error().message;
    if (!kept) return;
    menu.may_replace_preset = menu.preset_typed;
    menu.presets = all_presets();
    menu.preset = menu.preset_typed;
}

/// Draws size, font and texts of the figure.
void draw_texts(Scene& s, Form& form) {
    SaveMenu& menu = s.of<SaveMenu>();
    form.type("Size", "figure/size", "auto; 85 mm; 1600 x 900 px", menu.size);
    read_size(menu.size, menu.style);
    form.type("Font", "figure/family", "Inter; Times New Roman", menu.style.font);
    choose_number(form, "Font size", "figure/font", "pt", {6, 7, 8.25, 9, 10, 12, 16, 20},
                  menu.style.font_pt);
    choose_number(form, "Resolution", "figure/dpi", "dpi", {96, 150, 192, 300, 600}, menu.style.dpi);
    form.type("Title", "figure/title", "none", menu.style.title);
    form.type("Caption", "figure/caption", "none", menu.style.caption);
}

/// Draws the options of figures of one head.
void draw_head_choices(Scene& s, Form& form) {
    FigureStyle& f = s.of<SaveMenu>().style;
    form.type("Tokens", "figure/tokens", "all; 0-5,9", f.tokens);
    if (const int c = form.choose("Rotate labels", "figure/turn", {"auto", "always", "never"},
                                  static_cast<int>(f.turned));
        c >= 0)
        f.turned = static_cast<Turned>(c);
}

/// Draws the name under which to save the style.
void draw_keep(Scene& s, Form& form) {
    constexpr float kSave = 72;
    SaveMenu& menu = s.of<SaveMenu>();
    Rect name = form.row("Save as preset");
    const Rect save = take_right(name, kSave, gap::small);
    s.ui.text_input("figure/name", name, "name", menu.preset_typed, false);
    const bool named = !menu.preset_typed.empty();
    if (s.ui.button("figure/keep", save, "Save", named ? Ui::Look::normal : Ui::Look::off) && named)
        keep_as_preset(s);
}

}  // namespace

void draw_save_form(Scene& s, Rect area) {
    constexpr float kHigh = 354, kHighOfHead = 540, kThumbRoom = 12;
    const bool own = saves_one_head(s);
    const float high = own ? kHighOfHead : kHigh;
    float& scroll = s.of<SaveMenu>().scroll;
    scroll = scrolled(s.ui, area, high, scroll);
    if (high > area.h) take_right(area, kThumbRoom);
    Form form{s.ui, {area.x, area.y - scroll, area.w, high}};
    choose_preset(s, form);
    draw_texts(s, form);
    if (own) draw_head_choices(s, form);
    draw_toggles(s, form, own);
    draw_keep(s, form);
}

}  // namespace headlight
