#include "window/host.h"

#include <GLFW/glfw3.h>

#include <algorithm>

#include "session/work/requests.h"
#include "views/views.h"
#include "window/texts.h"

namespace headlight {

void WindowHost::set_text(TextName which, const std::string& text) {
    field(which).replace(text, desk_.session.document.history);
}

/// What was typed since the last question is a part of the text that is edited.
bool WindowHost::apply(const TextEdit& edit) {
    Document& d = desk_.session.document;
    note_texts(d, desk_.fields);
    return apply_edit(d, desk_.fields, edit);
}

bool WindowHost::typing() const { return desk_.fields.typed() != nullptr; }

/// The text fields that are there, in the order of Tab.
std::vector<TextField*> WindowHost::shown_fields() {
    std::vector<TextField*> out{&desk_.fields.sentence};
    if (!desk_.sentence()) return out;
    if (reads_two_texts(desk_.sentence()->model->config)) out.push_back(&desk_.fields.second);
    if (desk_.ui->widgets.count("other")) out.push_back(&desk_.fields.other);
    return out;
}

/// Goes through the texts, then through the controls and back; in a sheet through its controls.
void WindowHost::move_focus(int by) {
    Ui& ui = *desk_.ui;
    Fields& fields = desk_.fields;
    desk_.want_frames(2);
    if (desk_.session.sheet) {
        if (!ui.move_focus(by)) ui.move_focus(by);
        return;
    }
    const auto shown = shown_fields();
    const auto last = std::find(shown.begin(), shown.end(), fields.typed());
    if (last != shown.end()) {
        const auto next = (last - shown.begin()) + by;
        if (next >= 0 && next < std::ssize(shown)) return fields.focus(*shown[next]);
    }
    fields.leave();
    if (!ui.move_focus(by)) fields.focus(*(by < 0 ? shown.back() : shown.front()));
}

void WindowHost::press_focus() {
    desk_.ui->press_focused();
    desk_.want_frames(2);
}

void WindowHost::step_focus(int by) {
    desk_.ui->step_focused(by);
    desk_.want_frames(2);
}

bool WindowHost::show_picture(const std::string& path) {
    return desk_.sentence() && give_picture(desk_.session, *desk_.sentence()->model, path);
}

Status WindowHost::show_config(const std::string& path) { return give_config(desk_.session, path); }

Status WindowHost::show_corpus(const std::string& path) {
    return give_corpus(desk_.session, desk_.sentence() ? desk_.sentence()->model.get() : nullptr, path);
}

/// What a window left that did not end as it should is opened as new: it has no file of its own.
void WindowHost::open_workspace(const std::string& path) {
    const bool left = path == desk_.session.document.left_workspace;
    if (!worker_link_.open_workspace_file(path) || !left) return;
    desk_.session.document.workspace.clear();
    desk_.session.notice = "Opened the workspace of the window that did not close properly.";
    autosave_.drop_left();
}

void WindowHost::copy_text(const std::string& text) { glfwSetClipboardString(desk_.window, text.c_str()); }

void WindowHost::close_window() { glfwSetWindowShouldClose(desk_.window, GLFW_TRUE); }

}  // namespace headlight
