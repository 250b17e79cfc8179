// Saving: the picture with its style and a live preview, the numbers, or the workspace.
#include "views/save_menu.h"

#include <algorithm>
#include <cstdio>

#include "base/cast.h"
#include "session/file_dialog.h"
#include "session/presets.h"
#include "session/save_path.h"
#include "session/workspace.h"
#include "views/parts.h"
#include "views/sheet_frame.h"
#include "views/views.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

/// Whether its figure is that of one head, with tokens along its sides.
bool of_one_head(const View& view) { return view.figure && view.shows == View::Shows::head; }

/// "head 2.0", "the view All heads": what Ctrl S saves.
std::string saved_name(const Scene& s) {
    const View& view = views()[view_for(s.session, *s.model())];
    return of_one_head(view)
               ? "head " + head_name(s.model()->config, s.session.selection.block, s.session.selection.head)
               : std::string("the view ") + view.name;
}

/// Rows of "label  control", one under another.
struct Form {
    Ui& ui;
    float x, y, w;
    static constexpr float kLabel = 104, kRow = 38;

    Rect row(const char* label) {
        ui.text.draw(x, y + 16, kCaption, ui.colors->t3, label);
        const Rect r{x + kLabel, y, w - kLabel, 32};
        y += kRow;
        return r;
    }
    int choose(const char* label, const char* path, const std::vector<std::string>& items, int current) {
        const Rect r = row(label);
        float width = 0;
        return ui.drop_down(path, r.x, r.middle_y(), items, current, width, r.w);
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

/// "85 mm", "85 x 60 mm", "1600x900 px" or "1600"; what cannot be read yet changes nothing.
void read_size(const std::string& text, FigureStyle& f) {
    double width = 0, height = 0;
    char unit[8] = "";
    const bool both = std::sscanf(text.c_str(), " %lf x %lf %7s", &width, &height, unit) >= 2;
    if (!both) height = 0;
    if (!both && !text.empty() && std::sscanf(text.c_str(), " %lf %7s", &width, unit) < 1) return;
    const bool mm = std::string_view(unit) == "mm";
    const double min = mm ? 10 : 16, max = mm ? 2000 : 30000;
    if (!text.empty() && (width < min || width > max || (height != 0 && (height < min || height > max))))
        return;
    f.width_mm = mm ? width : 0;
    f.height_mm = mm ? height : 0;
    f.width_px = mm || text.empty() ? 0 : width;
    f.height_px = mm || text.empty() ? 0 : height;
}

/// What of a preset the whole window shows is chosen by the commands of the same words.
void use_preset(const Scene& s, const FigurePreset& preset) {
    SaveMenu& menu = s.of<SaveMenu>();
    FigureStyle style = sharp_style();
    style.title = menu.style.title;
    style.caption = menu.style.caption;
    if (!apply_preset(style, preset)) return;
    menu.style = style;
    menu.size = size_text(style);
    menu.preset = preset.name;
    for (const char* field : {"colormap", "scale", "queries", "marks"})
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
    const int chosen = form.choose("Preset", "figure/preset", names, current);
    if (chosen == 0) use_preset(s, {"", {}});
    if (chosen > 0) use_preset(s, s.of<SaveMenu>().presets[chosen - 1]);
}

/// One of some numbers, or the one in force.
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
    FigureStyle& f = s.of<SaveMenu>().style;
    std::vector<std::tuple<const char*, const char*, bool*>> all{
        {"figure/transparent", "transparent", &f.transparent}};
    if (own)
        all.insert(all.end(), {{"figure/labels", "labels", &f.labels},
                               {"figure/bar", "color bar", &f.color_bar},
                               {"figure/grid", "grid lines", &f.grid_lines},
                               {"figure/values", "values", &f.values},
                               {"figure/words", "words", &f.join_words}});
    constexpr int kAcross = 3;
    const float w = (form.w - 8 * (kAcross - 1)) / kAcross;
    for (size_t i = 0; i < all.size(); ++i) {
        const auto& [path, label, on] = all[i];
        const size_t column = i % kAcross, row = i / kAcross;
        s.ui.toggle(path, {form.x + (w + 8) * float(column), form.y + 36 * float(row), w, 28}, label, *on);
    }
    const size_t rows = (all.size() + kAcross - 1) / kAcross;
    form.y += 36 * float(rows) + 4;
}

void keep_as_preset(const Scene& s) {
    SaveMenu& menu = s.of<SaveMenu>();
    const Preferences& shown = s.session.preferences;
    FigureStyle style = menu.style;
    style.colormap = shown.colormap;
    style.scale = shown.scale;
    style.queries = shown.queries;
    style.marks = shown.marks;
    style.drop_sink = shown.drop_sink;
    const Status kept = keep_preset(preset_of(menu.preset_typed, style));
    menu.failed = !kept;
    menu.result =
        kept ? "Saved as preset " + menu.preset_typed + ", also for render --preset." : kept.error().message;
    if (!kept) return;
    menu.presets = known_presets();
    menu.preset = menu.preset_typed;
}

/// Scrolls in low windows.
void draw_form(Scene& s, Rect area) {
    FigureStyle& f = s.of<SaveMenu>().style;
    const bool own = of_one_head(views()[view_for(s.session, *s.model())]);
    const float high = own ? 470 : 320;
    s.of<SaveMenu>().scroll = scrolled(s.ui, area, high, s.of<SaveMenu>().scroll);
    Form form{s.ui, area.x, area.y - s.of<SaveMenu>().scroll, area.w - (high > area.h ? 12 : 0)};
    choose_preset(s, form);
    form.type("Size", "figure/size", "by content; 85 mm; 1600 x 900 px", s.of<SaveMenu>().size);
    read_size(s.of<SaveMenu>().size, f);
    choose_number(form, "Font size", "figure/font", "pt", {6, 7, 8.25, 9, 10, 12, 16, 20}, f.font_pt);
    choose_number(form, "Resolution", "figure/dpi", "dpi", {96, 150, 192, 300, 600}, f.dpi);
    form.type("Title", "figure/title", "none", f.title);
    form.type("Caption", "figure/caption", "none", f.caption);
    if (own) {
        form.type("Tokens", "figure/tokens", "all; 0-5,9", f.tokens);
        if (const int c = form.choose("Rotate labels", "figure/turn", {"auto", "always", "never"},
                                      static_cast<int>(f.turned));
            c >= 0)
            f.turned = static_cast<Turned>(c);
    }
    draw_toggles(s, form, own);
    const Rect row = form.row("Save as preset");
    s.ui.text_input("figure/name", {row.x, row.y, row.w - 80, row.h}, "name", s.of<SaveMenu>().preset_typed,
                    false);
    if (s.ui.button("figure/keep", {row.right() - 72, row.y, 72, row.h}, "Save",
                    s.of<SaveMenu>().preset_typed.empty() ? Ui::Look::off : Ui::Look::normal) &&
        !s.of<SaveMenu>().preset_typed.empty())
        keep_as_preset(s);
}

void draw_preview(Scene& s, Rect area) {
    Ui& ui = s.ui;
    ui.fill(area, ui.colors->bg0, size::corner);
    ui.frame(area, ui.colors->l1, 1, size::corner);
    ui.name("figure/preview", area);
    s.of<SaveMenu>().preview_box = {int((area.w - 16) * ui.scale), int((area.h - 16) * ui.scale)};
    const Pictures& p = s.pictures;
    if (!s.of<SaveMenu>().preview_error.empty()) {
        ui.text.draw_wrapped(area.x + 16, area.y + 16, area.w - 32, kCaption, ui.colors->warning,
                             s.of<SaveMenu>().preview_error);
        return;
    }
    if (!p.preview) return;
    const auto [w, h] = ui.points({float(p.preview_w), float(p.preview_h)});
    ui.picture({ui.whole(area.middle_x() - w / 2), ui.whole(area.middle_y() - h / 2), w, h}, p.preview.id(),
               p.preview_w, p.preview_h, nullptr);
}

void draw_path(Scene& s, Rect row) {
    Ui& ui = s.ui;
    const float browse = s.of<SaveMenu>().has_dialog ? 96 : 0;
    const Rect field{row.x, row.y, row.w - 96 - browse, 32};
    if (browse > 0 && ui.button("save path/browse", {field.right() + 8, field.y, 88, 32}, "Browse…"))
        s.send("browse");
    ui.text_input(s.of<SaveMenu>().workspace ? "workspace path" : "save path", field, "file name",
                  s.of<SaveMenu>().path);
    if (ui.button("save path/save", {field.right() + browse + 8, field.y, 88, 32}, "Save", Ui::Look::primary))
        s.send("accept");
    const bool said = !s.of<SaveMenu>().result.empty();
    const std::string full = full_path(s.of<SaveMenu>().path, s.of<SaveMenu>().folder).string();
    const std::string where = full.empty()                    ? "In " + s.of<SaveMenu>().folder + ". "
                              : full == s.of<SaveMenu>().path ? ""
                                                              : "Saved as " + full + ". ";
    const std::string hint =
        where +
        (s.of<SaveMenu>().workspace
             ? "Model, sentences, view, interventions and comparison, to open again with Ctrl O or a drop."
             : "End the name in .png, .svg, .pdf; or, for the numbers, in .csv, .tsv, .json, .npy, "
               ".safetensors.");
    ui.text.draw_wrapped(row.x, field.bottom() + 12, row.w, kCaption,
                         said && s.of<SaveMenu>().failed ? ui.colors->warning
                         : said                          ? ui.colors->t2
                                                         : ui.colors->t3,
                         said ? s.of<SaveMenu>().result : hint);
}

}  // namespace

void draw_save_menu(Scene& s, Rect window) {
    Ui& ui = s.ui;
    const bool workspace = s.of<SaveMenu>().workspace;
    const float w = std::min(workspace ? 560.0f : 1000.0f, window.w - 32),
                h = std::min(workspace ? 190.0f : 620.0f, window.h - 32);
    const Rect r{ui.whole(window.middle_x() - w / 2), ui.whole(window.middle_y() - h / 2), w, h};
    SheetFrame sheet(s, "save menu", r);
    const float x = r.x + 20, inner = r.w - 40;
    ui.text.draw(x, r.y + 28, kTitle, ui.colors->t1,
                 "Save " + (workspace ? "the workspace" : ui.text.fitted(kTitle, saved_name(s), r.w - 260)));
    const float segments_w = ui.text.width(kCaption, "FigureWorkspace") + 48;
    if (const int i = ui.segments("save what", r.right() - 20 - segments_w, r.y + 28, {"Figure", "Workspace"},
                                  workspace ? 1 : 0);
        i >= 0)
        s.send(i == 1 ? "save workspace" : "save figure");
    const Rect path{x, r.bottom() - 92, inner, 80};
    if (workspace) return draw_path(s, path);
    const float form_w = std::min(360.0f, inner * 0.5f), top = r.y + 58, high = r.bottom() - 108 - top;
    ui.clip({x, top, inner, high});
    draw_preview(s, {x, top, inner - form_w - 24, high});
    draw_form(s, {r.right() - 20 - form_w, top, form_w, high});
    ui.unclip();
    draw_path(s, path);  // last: it has the keyboard unless something above takes it
}

fs::path proposed_path(const Session& session) {
    const std::string name = !session.of<SaveMenu>().workspace && session.selection.view
                                 ? std::string("headlight-") + views()[*session.selection.view].key
                                 : "headlight";
    return next_free(fs::path(session.of<SaveMenu>().folder) /
                     (name + (session.of<SaveMenu>().workspace ? ".headlight.json" : ".png")));
}

void open_save_menu(Session& session, bool workspace) {
    if (!session.shows(Sheet::save)) session.of<SaveMenu>().presets = known_presets();
    const bool same = session.shows(Sheet::save) && session.of<SaveMenu>().workspace == workspace;
    session.sheet = Sheet::save;
    session.of<SaveMenu>().failed = false;
    session.of<SaveMenu>().workspace = workspace;
    session.of<SaveMenu>().result.clear();
    session.of<SaveMenu>().folder = (workspace ? documents_folder() : pictures_folder()).string();
    session.of<SaveMenu>().has_dialog = !dialog_program().empty();
    if (workspace && !session.document.workspace.empty())
        session.of<SaveMenu>().path = session.of<SaveMenu>().may_replace =
            session.document.workspace;  // it goes on where it was
    else if (!same)
        session.of<SaveMenu>().path = proposed_path(session).string();
}

}  // namespace headlight
