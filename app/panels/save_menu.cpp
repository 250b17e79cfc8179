// Saves a figure with its style and a live preview, the numbers, or the workspace.
#include "panels/save_menu.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cctype>

#include "base/utf8.h"
#include "figure/file_formats.h"
#include "io/json.h"
#include "paint/layout.h"
#include "parts/sheet_frame.h"
#include "session/commands/word_parsers.h"
#include "session/file_dialog.h"
#include "session/presets.h"
#include "session/save_path.h"
#include "views/combined_heads.h"
#include "views/views.h"

namespace headlight {

void SaveMenu::visit(FieldVisitor& v) {
    v.report("save_path", path);
    v.report("save_result", result);
    v.report("preset_typed", preset_typed);
}

namespace fs = std::filesystem;

namespace {

/// Names what Ctrl+S saves: "head 2.0", "the view All heads".
std::string saved_name(const Scene& s) {
    const View& view = shown_view(s.session, *s.model());
    if (view.group)
        if (const auto group = view.group(s.session, s.model()->config))
            return "the " + lower_case(group_title(s.model()->config, *group));
    return saves_one_head(s)
               ? "head " + head_name(s.model()->config, s.session.selection.block, s.session.selection.head)
               : std::string("the view ") + view.name;
}

/// Draws the figure as it would be saved, or the reason why it cannot be drawn.
void draw_preview(Scene& s, Rect area) {
    Ui& ui = s.ui;
    ui.fill(area, ui.colors->bg0, size::corner);
    ui.frame(area, ui.colors->l1, 1, size::corner);
    ui.name("figure/preview", area);
    const Rect inside = inset(area, gap::small, gap::small), box = ui.pixels(inside);
    SaveMenu& menu = s.of<SaveMenu>();
    menu.preview_box = {int(box.w), int(box.h)};
    if (!menu.preview_error.empty()) {
        const Rect text = inset(area, gap::large, gap::large);
        ui.text.draw_wrapped(text.x, text.y, text.w, kCaption, ui.colors->warning, menu.preview_error);
        return;
    }
    const Pictures& p = s.pictures;
    if (!p.preview) return;
    const auto [w, h] = ui.points({float(p.preview_w), float(p.preview_h)});
    ui.picture({ui.whole(area.middle_x() - w / 2), ui.whole(area.middle_y() - h / 2), w, h}, p.preview.id(),
               p.preview_w, p.preview_h, nullptr);
}

/// Lists the formats that a view can be saved in.
std::vector<const FileFormat*> formats_of(const View& view) {
    std::vector<const FileFormat*> out;
    for (const FileFormat& format : file_formats())
        if (format.kind == FormatKind::picture || (format.kind == FormatKind::numbers && view.numbers) ||
            (format.kind == FormatKind::page && (view.write || !view.of_model)))
            out.push_back(&format);
    return out;
}

/// Formats as buttons: pressing one ends the name in it.
void choose_format(Scene& s, Rect line) {
    SaveMenu& menu = s.of<SaveMenu>();
    const View& view = shown_view(s.session, *s.model());
    const std::vector<const FileFormat*> formats = formats_of(view);
    std::vector<std::string> names;
    int now = -1;
    const std::string ending = lower_case(fs::path(menu.path).extension().string());
    for (const FileFormat* format : formats) {
        if (ending == format->ending) now = isize(names);
        names.emplace_back(format->name);
    }
    const int chosen = s.ui.segments("save format", line.x, line.middle_y(), {names, {}, now});
    take_left(line, s.ui.segments_width(names), gap::medium);
    if (now >= 0) caption(s.ui, line, formats[now]->help);
    if (chosen < 0 || chosen == now) return;
    const fs::path named = menu.path.empty() ? proposed_path(s.session, s.model()) : fs::path(menu.path);
    menu.path = fs::path(named).replace_extension(formats[chosen]->ending).string();
    menu.result.clear();
    menu.failed = false;
    ImGui::ClearActiveID();  // else the field, which has the keyboard, would restore its own text
}

/// Shows the result of the last save, else the folder of the file.
std::string hint_of(const SaveMenu& menu) {
    if (!menu.result.empty()) return menu.result;
    const std::string full = full_path(menu.path, menu.folder).string();
    const std::string where = full.empty()        ? "In " + menu.folder + ". "
                              : full == menu.path ? ""
                                                  : "Saved as " + full + ". ";
    return menu.workspace ? where +
                                "Model, sentences, view, interventions and comparison. Open it with "
                                "Ctrl+O, or drop it onto the window."
                          : where;
}

void draw_path(Scene& s, Rect area) {
    constexpr float kButton = 88;
    Ui& ui = s.ui;
    const SaveMenu& menu = s.of<SaveMenu>();
    if (!menu.workspace) choose_format(s, take_top(area, size::chip, gap::small));
    Rect field = take_top(area, size::button, gap::medium);
    const Rect save = take_right(field, kButton, gap::small);
    if (menu.has_dialog && ui.button("save path/browse", take_right(field, kButton, gap::small), "Browse…"))
        s.send("browse");
    ui.text_input(menu.workspace ? "workspace path" : "save path", field, "file name", s.of<SaveMenu>().path);
    if (ui.button("save path/save", save, "Save", Ui::Look::primary)) s.send("accept");
    const ImU32 ink = menu.failed ? ui.colors->warning : ui.colors->t2;
    ui.text.draw_wrapped(area.x, area.y, area.w, kCaption, menu.result.empty() ? ui.colors->t3 : ink,
                         hint_of(menu));
}

/// Draws what is saved, and the choice between figure and workspace.
void draw_title(Scene& s, Rect line, bool workspace) {
    constexpr float kAround = 48;  // width of the caption of the choice
    Ui& ui = s.ui;
    const Rect choice = take_right(line, ui.text.width(kCaption, "FigureWorkspace") + kAround, gap::large);
    write(ui, line, kTitle, ui.colors->t1, "Save " + (workspace ? "the workspace" : saved_name(s)));
    if (const int i = ui.segments("save what", choice.x, choice.middle_y(),
                                  {{"Figure", "Workspace"}, {}, workspace ? 1 : 0});
        i >= 0)
        s.send(i == 1 ? "save workspace" : "save figure");
}

/// A sheet of at most this size in the middle of the window.
Rect centered(const Ui& ui, Rect window, ImVec2 wanted) {
    const Rect max = inset(window, gap::large, gap::large);
    const float w = std::min(wanted.x, max.w), h = std::min(wanted.y, max.h);
    return {ui.whole(window.middle_x() - w / 2), ui.whole(window.middle_y() - h / 2), w, h};
}

/// The model's name without folders, extension and characters that are awkward in file names.
std::string name_for_file(const std::string& model_path) {
    fs::path path(model_path);
    if (!path.has_filename()) path = path.parent_path();
    std::string out = path.filename().string();
    for (const char* ending : {".gguf", ".safetensors"})
        if (fs::path(out).extension() == ending) out = fs::path(out).stem().string();
    std::replace_if(
        out.begin(), out.end(),
        [](unsigned char c) { return c < 128 && !std::isalnum(c) && c != '-' && c != '_' && c != '.'; }, '-');
    return out.empty() ? "headlight" : out;
}

/// Suffix of a file name for a view of one head: "-2.0", "-cross.2.5", "-mean".
std::string shown_for_file(const Session& session, const Model& model, const View& view) {
    if (view.shows != View::Shows::head) return "";
    const MapOf of = session.of<CombinedHeads>().of;
    if (view.group && of != MapOf::head) return of == MapOf::mean ? "-mean" : "-max";
    const AttentionHead head{session.selection.block, session.selection.head};
    return model.config.has_head(head) ? "-" + head_path(model.config, head.block, head.head) : "";
}

}  // namespace

bool saves_one_head(const Scene& s) {
    const View& view = shown_view(s.session, *s.model());
    return view.figure && !view.figure_of_answer && view.shows == View::Shows::head;
}

void draw_save_menu(Scene& s, Rect window) {
    const ImVec2 kFigure{1000, 742}, kWorkspace{560, 190};
    constexpr float kPad = 20, kTitleLine = 58, kPath = 80, kFormat = 36, kUnder = 12, kOverPath = 16,
                    kForm = 400;
    Ui& ui = s.ui;
    const bool workspace = s.of<SaveMenu>().workspace;
    const Rect r = centered(ui, window, workspace ? kWorkspace : kFigure);
    SheetFrame sheet(s, "save menu", r);
    Rect inside = inset(r, kPad, 0);
    draw_title(s, take_top(inside, kTitleLine), workspace);
    take_bottom(inside, kUnder);
    const Rect path = take_bottom(inside, kPath + (workspace ? 0 : kFormat), kOverPath);
    if (workspace) return draw_path(s, path);
    ui.clip(inside);
    const Rect form = take_right(inside, std::min(kForm, inside.w / 2), gap::wide);
    draw_preview(s, inside);
    draw_save_form(s, form);
    ui.unclip();
    draw_path(s, path);  // last: takes the keyboard unless something above does
}

fs::path proposed_path(const Session& session, const Model* model) {
    const SaveMenu& menu = session.of<SaveMenu>();
    if (menu.workspace) return next_free(fs::path(menu.folder) / "headlight.headlight.json");
    std::string name = name_for_file(session.document.open.path);
    if (model) {
        const View& view = shown_view(session, *model);
        name += "-" + std::string(view.key) + shown_for_file(session, *model, view);
    }
    return next_free(fs::path(menu.folder) / (name + ".png"));
}

void open_save_menu(Session& session, const Model* model, bool workspace) {
    SaveMenu& menu = session.of<SaveMenu>();
    const bool open = session.shows(Sheet::save), same = open && menu.workspace == workspace;
    if (!open) menu.presets = all_presets();
    session.sheet = Sheet::save;
    menu.failed = false;
    menu.workspace = workspace;
    menu.result.clear();
    menu.folder = (workspace ? documents_folder() : pictures_folder()).string();
    menu.has_dialog = !dialog_program().empty();
    if (workspace && !session.document.workspace.empty())
        menu.path = menu.may_replace = session.document.workspace;  // saves to the same file again
    else if (!same)
        menu.path = proposed_path(session, model).string();
}

}  // namespace headlight
