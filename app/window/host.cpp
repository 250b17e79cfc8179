#include "window/host.h"

#include <GLFW/glfw3.h>

#include <algorithm>

#include "panels/lesson/lesson.h"
#include "session/lesson.h"
#include "session/work/requests.h"
#include "views/views.h"
#include "window/texts.h"

namespace headlight {

/// Refuses what would change a locked sentence, whichever command asks.
void WindowHost::set_text(TextName which, const std::string& text) {
    if (which != TextName::other && sentence_locked(state_.session)) {
        state_.session.notice = kLockedByLesson;
        return;
    }
    headlight::set_text(state_.session.document, state_.fields, which, text);
}

/// Counts what was typed since the last call as part of the edited text.
bool WindowHost::apply(const TextEdit& edit) {
    Document& d = state_.session.document;
    note_texts(d, state_.fields);
    return apply_edit(d, state_.fields, edit);
}

void WindowHost::focus_text(TextName which) {
    if (which == TextName::other || !sentence_locked(state_.session)) state_.fields.focus(field(which));
}

bool WindowHost::typing() const { return state_.fields.typed() != nullptr; }

/// The visible text fields, in Tab order.
std::vector<TextField*> WindowHost::shown_fields() {
    std::vector<TextField*> out;
    const bool locked = sentence_locked(state_.session);
    if (!locked) out.push_back(&state_.fields.sentence);
    if (!state_.sentence()) return out;
    if (!locked && reads_two_texts(state_.sentence()->model->config)) out.push_back(&state_.fields.second);
    if (state_.ui->widgets.count("other")) out.push_back(&state_.fields.other);
    return out;
}

/// Moves through the texts, then through the controls and back; in a sheet through its controls.
void WindowHost::move_focus(int by) {
    Ui& ui = *state_.ui;
    Fields& fields = state_.fields;
    state_.want_frames(2);
    if (state_.session.sheet) {
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
    if (ui.move_focus(by)) return;
    if (shown.empty())
        ui.move_focus(by);  // around to the other end
    else
        fields.focus(*(by < 0 ? shown.back() : shown.front()));
}

void WindowHost::press_focus() {
    state_.ui->press_focused();
    state_.want_frames(2);
}

void WindowHost::step_focus(int by) {
    state_.ui->step_focused(by);
    state_.want_frames(2);
}

bool WindowHost::show_picture(const std::string& path) {
    return state_.sentence() && give_picture(state_.session, *state_.sentence()->model, path);
}

Status WindowHost::show_config(const std::string& path) { return give_config(state_.session, path); }

Status WindowHost::show_corpus(const std::string& path) {
    return give_corpus(state_.session, state_.sentence() ? state_.sentence()->model.get() : nullptr, path);
}

/// Opens a recovered workspace as new: it has no file of its own.
void WindowHost::open_workspace(const std::string& path) {
    const bool left = path == state_.session.document.left_workspace;
    if (!worker_link_.open_workspace_file(path) || !left) return;
    state_.session.document.workspace.clear();
    state_.session.notice = "Recovered the workspace of the window that crashed.";
    autosave_.drop_left();
}

/// Shows what a lesson, or the end of one, put into the document.
void WindowHost::show_document() {
    worker_link_.show_texts();
    state_.fields.leave();
    if (!sentence_locked(state_.session)) state_.fields.focus(state_.fields.sentence);
    state_.want_frames(2);
}

Status WindowHost::open_lesson(const std::string& name) {
    note_state(state_);
    TRY_STATUS(show_lesson(state_.session, shown_model(), name));
    show_document();
    return success();
}

Status WindowHost::leave_lesson() {
    note_state(state_);
    TRY_STATUS(close_lesson(state_.session, shown_model()));
    show_document();
    return success();
}

void WindowHost::copy_text(const std::string& text) { glfwSetClipboardString(state_.window, text.c_str()); }

void WindowHost::close_window() { glfwSetWindowShouldClose(state_.window, GLFW_TRUE); }

}  // namespace headlight
