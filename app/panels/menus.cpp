// Draws the sheets over the window: models, settings, saving, keys.
#include "panels/menus.h"

#include <imgui.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/cast.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "io/engine_address.h"
#include "model/loading/parameters.h"
#include "paint/layout.h"
#include "panels/hub_field.h"
#include "panels/metric_menu.h"
#include "panels/save_menu.h"
#include "panels/token_menu.h"
#include "parts/controls.h"
#include "parts/metric.h"
#include "parts/model_names.h"
#include "parts/sheet_frame.h"
#include "views/views.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

void show_folder(const std::string& path) {
    const std::string folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path().string() : ".";
    constexpr int kNotFound = 127;  // as shells report it
    const pid_t child = fork();
    if (child == 0) {  // double fork: init reaps the grandchild
        if (fork() == 0) {
            execlp("xdg-open", "xdg-open", folder.c_str(), nullptr);
            _exit(kNotFound);
        }
        _exit(0);
    }
    if (child > 0) waitpid(child, nullptr, 0);
}

constexpr float kPad = 20;  // around a sheet's contents

/// Actions for an error.
void draw_error_buttons(Scene& s, Rect buttons) {
    constexpr float kAgain = 120, kFolder = 132;
    Ui& ui = s.ui;
    if (ui.button("error/again", take_left(buttons, kAgain, gap::small), "Try again"))
        s.send("open", s.answer->model_path);
    if (ui.button("error/copy", take_left(buttons, kAgain, gap::small), "Copy text"))
        ImGui::SetClipboardText(s.answer->model_error.c_str());
    if (!is_engine_address(s.answer->model_path) &&
        ui.button("error/folder", take_left(buttons, kFolder), "Show folder"))
        show_folder(s.answer->model_path);
}

/// Draws the last error of opening a model, and which model is still open; takes both off the top.
void draw_error(Scene& s, Rect& rest) {
    constexpr float kEdge = 4, kTitleLine = 28, kFoot = 14, kStill = 44;
    constexpr int kBack = 0, kFront = 1;  // measures the text before filling its background
    Ui& ui = s.ui;
    Rect box = inset(rest, -gap::small, 0);
    Rect inside = inset(box, gap::large, 0);
    take_left(inside, kEdge);
    ui.list->ChannelsSplit(2);
    ui.list->ChannelsSetCurrent(kFront);
    const std::string& path = s.answer->model_path;
    const std::string name = is_engine_address(path) ? engine_name(path) : fs::path(path).filename().string();
    take_top(inside, 0, gap::close);
    write(ui, take_top(inside, kTitleLine), kBody, ui.colors->warning, name + " could not be opened.");
    take_top(inside,
             ui.text.draw_wrapped(inside.x, inside.y, inside.w, kBody, ui.colors->t1, s.answer->model_error),
             gap::small);
    draw_error_buttons(s, take_top(inside, size::button, kFoot));
    box.h = inside.y - box.y;
    ui.list->ChannelsSetCurrent(kBack);
    ui.fill(box, ui.colors->warning_fill);
    ui.fill({box.x, box.y, kEdge, box.h}, ui.colors->warning);
    ui.list->ChannelsMerge();
    ui.name("error", box);
    take_top(rest, box.h);
    write(ui, take_top(rest, kStill), kCaption, ui.colors->t2,
          s.model() ? s.model()->name + " is still open; nothing changed." : "No model is open.");
}

struct Listed {
    std::string path, name, what;
    bool readable = true;
};

/// Built-in and recent models, then those of other programs, without duplicates.
std::vector<Listed> listed_models(Scene& s) {
    const Session& session = s.session;
    std::vector<Listed> out{{"stories", "stories", "built in"}};
    for (const auto& path : session.preferences.recent_models)
        if (path != "stories")
            out.push_back(
                {path, shown_model_name(s, path), "recent · " + fs::path(path).parent_path().string()});
    for (const FoundModel& m : session.of<ModelMenu>().found) {
        const bool known = std::any_of(out.begin(), out.end(), [&](const Listed& l) {
            return l.path == m.path.string() || l.path == m.name;
        });
        const std::string family = m.family.empty() ? "" : m.family + " · ";
        if (!known)
            out.push_back({m.source == "built in" ? m.name : m.path.string(), m.name,
                           m.problem.empty()
                               ? family + (m.bytes ? short_bytes(m.bytes) + " · " : "") + m.source
                               : "cannot be opened: " + m.problem,
                           m.problem.empty()});
    }
    return out;
}

/// Draws a model's name and origin, with a disc for the open one.
void draw_model_row(Scene& s, const Listed& m, Rect r) {
    constexpr float kNames = 0.42f, kDisc = 3;
    Ui& ui = s.ui;
    const Hit h = ui.control("models/" + m.name, r);
    const bool open = s.model() && m.path == s.session.document.open.path;
    if (h.hovered) ui.fill(r, ui.colors->bg3, size::corner);
    if (open) ui.disc({r.x + 2, r.middle_y()}, kDisc, ui.colors->accent);
    Rect what = inset(r, gap::medium, 0);
    const Rect name = take_left(what, what.w * kNames, gap::medium);
    const ImU32 ink = open ? ui.colors->accent_text : ui.colors->t1;
    write(ui, name, kBody, m.readable ? ink : ui.colors->t3, m.name);
    write(ui, what, kCaption, m.readable ? ui.colors->t2 : ui.colors->warning, m.what);
    if (!m.readable) ui.tooltip("models/" + m.name, h, m.what);
    if (h.clicked) s.send("open", m.path);
}

/// Draws all models found; scrolls by wheel, and `foot` counts those below.
void draw_model_rows(Scene& s, Rect rest, Rect foot) {
    constexpr float kRow = 32, kHeading = 28;
    Ui& ui = s.ui;
    const auto models = listed_models(s);
    caption(ui, take_top(rest, kHeading),
            s.of<ModelMenu>().found_all ? "On this computer" : "On this computer (looking…)");
    const Rect shown = inset(rest, -gap::small, 0);
    float& scroll = s.of<ModelMenu>().scroll;
    scroll = scrolled(ui, shown, kRow * float(models.size()), scroll, 2 * kRow);
    const Grid rows{shown, isize(models), 1, shown.w, kRow, 0, scroll};
    ui.clip(shown);
    int below = 0;
    for (int i = 0; i < rows.rows; ++i) {
        const Rect r = rows.row(i);
        if (r.bottom() > shown.bottom() + 1)
            ++below;
        else if (r.y >= shown.y - 1)
            draw_model_row(s, models[i], r);
    }
    ui.unclip();
    if (below) caption(ui, foot, std::to_string(below) + " more", Flush::right);
}

/// Draws a path field and its Open button.
void draw_model_path(Scene& s, Rect field) {
    constexpr float kOpen = 88;
    Ui& ui = s.ui;
    const Rect open = take_right(field, kOpen, gap::small);
    ui.text_input("model path", field,
                  "Path of a model, trace or workspace, or the address of a Python process",
                  s.of<ModelMenu>().path);
    if (ui.button("model path/open", open, "Open",
                  s.of<ModelMenu>().path.empty() ? Ui::Look::off : Ui::Look::normal))
        s.send("open", s.of<ModelMenu>().path);
}

void draw_model_menu(Scene& s, Rect window) {
    constexpr float kWide = 664, kHigh = 660, kTop = 52, kAround = 100, kLine = 52, kUnderField = 14;
    Ui& ui = s.ui;
    const Rect r{gap::large, kTop, std::min(kWide, window.w - 2 * gap::large),
                 std::min(kHigh, window.h - kAround)};
    SheetFrame sheet(s, "model menu", r);
    Rect rest = inset(r, kPad, 0);
    const Rect title = take_top(rest, kLine), foot = take_bottom(rest, kLine);
    write(ui, title, kTitle, ui.colors->t1,
          s.session.shows(Sheet::compared_models) ? "Compare with a model" : "Open a model");
    write(ui, title, kCaptionMono, ui.colors->t3, "Ctrl+O", Flush::right);
    caption(ui, foot, "Or drop a folder, a .gguf file or a workspace onto the window.");
    if (s.answer && !s.answer->model_error.empty()) draw_error(s, rest);
    draw_model_path(s, take_top(rest, size::button, kUnderField));
    const Rect hub = take_bottom(rest, hub_field_height(s), gap::medium);
    draw_model_rows(s, rest, foot);
    draw_hub_field(s, hub);
}

/// "Theme [Dark | Light]"; returns the clicked choice, or −1.
int draw_setting(Ui& ui, Rect& rest, const char* label, const char* path,
                 const std::vector<std::string>& choices, int current) {
    constexpr float kRow = 40, kLabels = 104;
    Rect row = take_top(rest, kRow);
    write(ui, take_left(row, kLabels), kBody, ui.colors->t2, label);
    return ui.segments(path, row.x, row.middle_y(), {choices, {}, current});
}

void draw_settings_menu(Scene& s, Rect window) {
    constexpr float kWide = 360, kHigh = 230, kTop = 96, kAbove = 6, kTitleLine = 44;
    constexpr float kSizes[] = {1, 1.25f, 1.5f};
    Ui& ui = s.ui;
    const Rect r{window.right() - gap::large - kWide, kTop, kWide, kHigh};
    SheetFrame sheet(s, "settings menu", r);
    Rect rest = inset(r, kPad, 0);
    take_top(rest, kAbove);
    const Preferences& p = s.session.preferences;
    write(ui, take_top(rest, kTitleLine), kTitle, ui.colors->t1, "Settings");
    if (const int i = draw_setting(ui, rest, "Theme", "theme", {"Dark", "Light"}, p.dark ? 0 : 1); i >= 0)
        s.send("theme", i == 0 ? "dark" : "light");
    const int current =
        narrow<int>(std::find(std::begin(kSizes), std::end(kSizes), p.text_size) - std::begin(kSizes));
    if (const int i = draw_setting(ui, rest, "Text size", "text size", {"100 %", "125 %", "150 %"}, current);
        i >= 0)
        s.send("text size", decimals(100 * kSizes[i], 0));
    if (const int i = draw_setting(ui, rest, "Blending", "motion", {"On", "Off"}, p.motion ? 0 : 1); i >= 0)
        s.send("motion", i == 0 ? "on" : "off");
    if (draw_setting(ui, rest, "Hints", "hints", {"Show again"}, -1) == 0) s.send("hints");
}

/// Draws the sheet to label the selected head.
void draw_label_menu(Scene& s, Rect window) {
    constexpr float kWide = 480, kHigh = 132, kTop = 180, kLine = 40, kSet = 88;
    Ui& ui = s.ui;
    const Rect r{window.middle_x() - kWide / 2, window.y + kTop, kWide, kHigh};
    SheetFrame sheet(s, "label menu", r);
    Rect rest = inset(r, kPad, gap::close);
    const Rect title = take_top(rest, kLine), note = take_bottom(rest, kLine);
    Rect field = take_top(rest, size::button);
    const Rect set = take_right(field, kSet, gap::small);
    write(
        ui, title, kBody, ui.colors->t1,
        "Label of head " + head_name(s.model()->config, s.session.selection.block, s.session.selection.head));
    ui.text_input("label", field, "induction, sink, …", s.of<LabelMenu>().typed);
    caption(ui, note, "Saved across sessions. Leave empty to remove.");
    if (reads_text(*s.model()) && !cannot_run(*s.model()) &&
        ui.link("label/corpus", note.right(), note.middle_y(), "Analyze many texts…")) {
        s.send("close", "label");
        s.send("corpus");
    }
    if (ui.button("label/set", set, "Set", Ui::Look::primary)) s.send("accept");
}

}  // namespace

void draw_menus(Scene& s, Rect window) {
    if (!s.session.sheet) return;
    switch (*s.session.sheet) {
        case Sheet::models:
        case Sheet::compared_models:
            return draw_model_menu(s, window);
        case Sheet::settings:
            return draw_settings_menu(s, window);
        case Sheet::save:
            if (s.sentence()) draw_save_menu(s, window);
            return;
        case Sheet::label:
            if (s.model()) draw_label_menu(s, window);
            return;
        case Sheet::metric:
            if (s.sentence() && s.model()->has_logits()) draw_metric_menu(s, window);
            return;
        case Sheet::token:
            if (s.sentence()) draw_token_menu(s, window);
            return;
        case Sheet::text_file:
            return draw_text_file_menu(s, window);
        case Sheet::history:
            return draw_history_menu(s, window);
        case Sheet::help:
        case Sheet::palette:
            return;  // the window draws it: it knows the table of commands
    }
}

}  // namespace headlight
