// What opens over the window: models, settings, saving a picture, the list of keys.
#include "views/menus.h"

#include <imgui.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/cast.h"
#include "base/utf8.h"
#include "model/parameters.h"
#include "paint/layout.h"
#include "views/save_menu.h"
#include "views/sheet_frame.h"
#include "views/views.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

void show_folder(const std::string& path) {
    const std::string folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path().string() : ".";
    if (fork() == 0) {
        execlp("xdg-open", "xdg-open", folder.c_str(), nullptr);
        _exit(127);
    }
}

/// The error of the last opening; returns the height it took.
float draw_error(Scene& s, float x, float y, float w) {
    Ui& ui = s.ui;
    const std::string& message = s.answer->model_error;
    constexpr float kEdge = 4, kButtons = 46;
    const float left = x + kEdge + gap::large, text_w = w - kEdge - 2 * gap::large;
    ui.list->ChannelsSplit(2);
    ui.list->ChannelsSetCurrent(1);
    const std::string name = fs::path(s.answer->model_path).filename().string();
    ui.text.draw(left, y + 20, kBody, ui.colors->warning,
                 ui.text.fitted(kBody, name + " was not opened.", text_w));
    const float lines = ui.text.draw_wrapped(left, y + 34, text_w, kBody, ui.colors->t1, message),
                high = 34 + lines + gap::small + kButtons;
    Rect buttons{left, y + high - kButtons, text_w, size::button};
    if (ui.button("error/again", take_left(buttons, 120, gap::small), "Try again"))
        s.send("open", s.answer->model_path);
    if (ui.button("error/copy", take_left(buttons, 120, gap::small), "Copy text"))
        ImGui::SetClipboardText(message.c_str());
    if (ui.button("error/folder", take_left(buttons, 132), "Show folder")) show_folder(s.answer->model_path);
    ui.list->ChannelsSetCurrent(0);
    ui.fill({x, y, w, high}, ui.colors->warning_fill);
    ui.fill({x, y, kEdge, high}, ui.colors->warning);
    ui.list->ChannelsMerge();
    ui.name("error", {x, y, w, high});
    const std::string still =
        s.model() ? s.model()->name + " is still open; nothing was changed." : "No model is open.";
    ui.text.draw(x + gap::small, y + high + gap::wide, kCaption, ui.colors->t2, still);
    return high + 44;
}

struct Listed {
    std::string path, name, what;
    bool readable = true;
};

/// Built in and recent ones, then those of other programs; nothing twice.
std::vector<Listed> listed_models(const Session& session) {
    std::vector<Listed> out{{"stories", "stories", "built in"}};
    for (const auto& path : session.preferences.recent_models)
        if (path != "stories")
            out.push_back({path, model_name(path), "recent · " + fs::path(path).parent_path().string()});
    for (const FoundModel& m : session.of<ModelMenu>().found) {
        const bool known = std::any_of(out.begin(), out.end(), [&](const Listed& l) {
            return l.path == m.path.string() || l.path == m.name;
        });
        const std::string family = m.family.empty() ? "" : m.family + " · ";
        if (!known)
            out.push_back({m.source == "built in" ? m.name : m.path.string(), m.name,
                           m.problem.empty() ? family + short_bytes(m.bytes) + " · " + m.source
                                             : "cannot be opened: " + m.problem,
                           m.problem.empty()});
    }
    return out;
}

void draw_model_row(Scene& s, const Listed& m, Rect r) {
    Ui& ui = s.ui;
    const float x = r.x + 8, y = r.middle_y(), name_w = r.w * 0.42f;
    const Hit h = ui.control("models/" + m.name, r);
    const bool open = s.model() && s.answer->model_error.empty() && m.path == s.session.document.model_path;
    if (h.hovered) ui.fill(r, ui.colors->bg3, size::corner);
    if (open) ui.disc({r.x + 2, y}, 3, ui.colors->accent);
    ui.text.draw(x + 4, y, kBody,
                 !m.readable ? ui.colors->t3
                 : open      ? ui.colors->accent_text
                             : ui.colors->t1,
                 ui.text.fitted(kBody, m.name, name_w - 12));
    ui.text.draw(x + name_w, y, kCaption, m.readable ? ui.colors->t2 : ui.colors->warning,
                 ui.text.fitted(kCaption, m.what, r.w - name_w - 12));
    if (!m.readable) ui.tooltip("models/" + m.name, h, m.what);
    if (!h.clicked) return;
    s.send("open", m.path);
}

void draw_model_rows(Scene& s, Rect rest) {
    Ui& ui = s.ui;
    const auto models = listed_models(s.session);
    ui.text.draw(rest.x, rest.y, kCaption, ui.colors->t3,
                 s.of<ModelMenu>().found_all ? "On this computer" : "On this computer (looking…)");
    take_top(rest, gap::large);
    const Rect shown = inset(rest, -gap::small, 0);
    const float row = 32, max = std::max(0.0f, row * float(models.size()) - shown.h);
    float& scroll = s.of<ModelMenu>().scroll;
    scroll = std::clamp(scroll - ui.take_wheel(shown) * row * 2, 0.0f, max);
    ui.clip(shown);
    size_t below = 0;
    for (int i = 0; i < isize(models); ++i) {
        const Rect r{shown.x, rest.y + row * float(i) - scroll, shown.w, row};
        if (r.bottom() > shown.bottom() + 1)
            ++below;
        else if (r.y >= shown.y - 1)
            draw_model_row(s, models[i], r);
    }
    ui.unclip();
    if (below)
        ui.text.draw_right(rest.right(), rest.bottom() + 26, kCaption, ui.colors->t3,
                           std::to_string(below) + " more");
}

void draw_model_menu(Scene& s, Rect window) {
    Ui& ui = s.ui;
    const Rect r{16, 52, std::min(664.0f, window.w - 32), std::min(520.0f, window.h - 100)};
    SheetFrame sheet(s, "model menu", r);
    Rect rest = inset(r, 20, 0);
    const Rect title = take_top(rest, 52), foot = take_bottom(rest, 52);
    ui.text.draw(title.x, title.middle_y(), kTitle, ui.colors->t1,
                 s.session.shows(Sheet::compared_models) ? "Compare with a model" : "Open a model");
    ui.text.draw_right(title.right(), title.middle_y(), kCaptionMono, ui.colors->t3, "Ctrl+O");
    ui.text.draw(foot.x, foot.middle_y(), kCaption, ui.colors->t3,
                 "Or drop a folder, a .gguf file or a workspace on the window.");
    if (s.answer && !s.answer->model_error.empty())
        take_top(rest, draw_error(s, r.x + gap::medium, rest.y, r.w - 2 * gap::medium));
    Rect field = take_top(rest, size::button, 28);
    const Rect open = take_right(field, 88, gap::small);
    ui.text_input("model path", field, "Path of a model folder, .gguf file, trace or workspace",
                  s.of<ModelMenu>().path);
    if (ui.button("model path/open", open, "Open",
                  s.of<ModelMenu>().path.empty() ? Ui::Look::off : Ui::Look::normal))
        s.send("open", s.of<ModelMenu>().path);
    draw_model_rows(s, rest);
}

/// "Theme   [Dark | Light]"; returns the choice that was pressed, or −1.
int draw_setting(Ui& ui, Rect& rest, const char* label, const char* path,
                 const std::vector<std::string>& choices, int current) {
    const Rect row = take_top(rest, 40);
    ui.text.draw(row.x, row.middle_y(), kBody, ui.colors->t2, label);
    return ui.segments(path, row.x + 104, row.middle_y(), choices, current);
}

void draw_settings_menu(Scene& s, Rect window) {
    Ui& ui = s.ui;
    const Rect r{window.right() - 376, 96, 360, 190};
    SheetFrame sheet(s, "settings menu", r);
    Rect rest = inset(r, 20, 0);
    const Preferences& p = s.session.preferences;
    ui.text.draw(rest.x, take_top(rest, 50).y + 28, kTitle, ui.colors->t1, "Settings");
    if (const int i = draw_setting(ui, rest, "Theme", "theme", {"Dark", "Light"}, p.dark ? 0 : 1); i >= 0)
        s.send("theme", i == 0 ? "dark" : "light");
    const float sizes[] = {1, 1.25f, 1.5f};
    const int current =
        narrow<int>(std::find(std::begin(sizes), std::end(sizes), p.text_size) - std::begin(sizes));
    if (const int i = draw_setting(ui, rest, "Text size", "text size", {"100 %", "125 %", "150 %"}, current);
        i >= 0)
        s.send("text size", std::to_string(int(sizes[i] * 100)));
    if (draw_setting(ui, rest, "Hints", "hints", {"Show again"}, -1) == 0) s.send("hints");
}

/// The selected head gets a label by hand.
void draw_label_menu(Scene& s, Rect window) {
    Ui& ui = s.ui;
    const Rect r{window.middle_x() - 190, window.y + 180, 380, 132};
    SheetFrame sheet(s, "label menu", r);
    Rect rest = inset(r, 20, 6);
    const Rect title = take_top(rest, 40), note = take_bottom(rest, 40);
    Rect field = take_top(rest, size::button);
    const Rect set = take_right(field, 88, gap::small);
    ui.text.draw(
        title.x, title.middle_y(), kBody, ui.colors->t1,
        "Label of head " + head_name(s.model()->config, s.session.selection.block, s.session.selection.head));
    ui.text_input("label", field, "induction, sink, …", s.of<LabelMenu>().typed);
    ui.text.draw(note.x, note.middle_y(), kCaption, ui.colors->t3,
                 "Kept between starts. An empty one takes it away.");
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
        case Sheet::help:
        case Sheet::palette:
            return;  // the window's, which knows the table of commands
    }
}

}  // namespace headlight
