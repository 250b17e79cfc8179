#include "window/autosave.h"

#include <GLFW/glfw3.h>

#include <algorithm>

#include "base/quoted.h"
#include "session/lesson.h"
#include "session/settings_writer.h"
#include "session/workspace.h"
#include "views/views.h"
#include "window/worker_link.h"

namespace headlight {

namespace {

constexpr double kShownLongEnough = 2;  // seconds after which a picture cannot be the cause of a crash

}  // namespace

void Autosave::begin() {
    const WindowOptions& options = state_.options;
    Session& session = state_.session;
    if (state_.remembers()) recovery_.emplace(recovery_folder());
    const bool starts_well = !recovery_ || !recovery_->left() ||
                             recovery_->left()->shown;  // else opening it may have crashed the last window
    if (!options.settings.empty())
        session = load_settings(options.settings, false, true, view_visits());
    else if (options.screenshot.empty())
        session = load_settings(settings_path(), true, starts_well, view_visits());
    session.visits = view_visits();
    if (!recovery_) return;
    const auto fields = settings_fields(session);
    saver_ = std::make_unique<Saver>(SettingsWriter(fields ? *fields : Json::object(),
                                                    workspace_fields(session.visits), recovery_->own()));
}

void Autosave::offer_left() {
    if (!recovery_ || !recovery_->left()) return;
    const auto opened = workspace_document(state_.session);
    const FoundFile left = find_remembered(recovery_->left()->workspace, false);
    const bool same = opened && left.root == *opened, unreadable = left.root.empty();
    if (same || unreadable)
        recovery_->drop_left();
    else
        state_.session.document.left_workspace = recovery_->left()->workspace.string();
}

void Autosave::drop_left() {
    if (recovery_) recovery_->drop_left();
    state_.session.document.left_workspace.clear();
    state_.want_frames(1);
}

void Autosave::note_window() {
    GLFWwindow* window = state_.window;
    if (!glfwGetWindowAttrib(window, GLFW_VISIBLE) || glfwGetWindowAttrib(window, GLFW_ICONIFIED)) return;
    Preferences& p = state_.session.preferences;
    p.window_maximized = glfwGetWindowAttrib(window, GLFW_MAXIMIZED) == GLFW_TRUE;
    if (p.window_maximized) return;
    glfwGetWindowSize(window, &p.window_width, &p.window_height);
    glfwGetWindowPos(window, &p.window_x, &p.window_y);
    p.window_placed = true;
}

/// Collects the session's state to save.
Session Autosave::remembered() {
    note_window();
    note_state(state_);
    return without_lesson(state_.session);  // what a lesson shows is not the user's own document
}

void Autosave::update() {
    if (!recovery_) return;
    const double now = glfwGetTime();
    if (shown_since_ > 0 && now >= shown_since_ + kShownLongEnough) {
        recovery_->mark_shown();
        shown_since_ = -1;
    }
    if (shown_since_ == 0 && state_.pictures.of_picture) shown_since_ = now;
    if (saving_ && !saver_->busy()) {
        saving_ = false;
        [[maybe_unused]] const Status reported = report_saving();
    }
    if (clock_.take(now)) save_now();
}

std::optional<double> Autosave::seconds_to_update() const {
    if (!recovery_) return std::nullopt;
    const double now = glfwGetTime();
    constexpr double kLook = 0.1;  // seconds between checks of a write in progress
    auto wait = clock_.wait(now);
    if (saving_) wait = std::min(wait.value_or(kLook), kLook);
    if (shown_since_ > 0)
        wait =
            std::min(wait.value_or(kShownLongEnough), std::max(0.0, shown_since_ + kShownLongEnough - now));
    return wait;
}

/// Keeps labels that could not be written for the next try.
void Autosave::write_labels() {
    Document& d = state_.session.document;
    if (!recovery_ || d.label_edits.empty()) return;
    auto all = remember_labels(settings_path(), d.label_edits);
    if (!all) {
        if (last_error_ != all.error().message)
            state_.session.notice = "The label was not saved: " + all.error().message;
        last_error_ = all.error().message;
        return;
    }
    d.label_edits.clear();
    if (state_.options.settings.empty()) d.head_labels = *std::move(all);
    state_.want_frames(1);
}

/// Reports a failed save until one succeeds.
Status Autosave::report_saving() {
    Status last = saver_->last();
    if (!last && (state_.session.notice.empty() || last_error_ != last.error().message)) {
        state_.session.notice = "Your work is not being saved: " + last.error().message;
        state_.want_frames(1);
    }
    last_error_ = last ? "" : last.error().message;
    return last;
}

void Autosave::save_now() {
    write_labels();
    const Status last = report_saving();
    const Session now = remembered();
    const auto settings = settings_fields(now), workspace = workspace_document(now);
    if (!settings) {
        if (state_.session.notice.empty())
            state_.session.notice = "Your work is not being saved: " + settings.error().message;
        return;
    }
    Saver::Snapshot snapshot{*settings, workspace ? *workspace : Json()};
    if (saved_ == snapshot && last) return;
    saved_ = snapshot;
    saver_->put(std::move(snapshot));
    saving_ = true;
}

void Autosave::finish() {
    if (!recovery_) return;
    write_labels();
    note_state(state_);
    const std::string& text = state_.session.document.text;
    const bool own = !open_lesson_of(state_.session);
    if (own && text.size() > 3 && text.size() < 2000)
        note_recent(state_.session.preferences.recent_texts, text);
    save_now();
    const Status last = saver_->finish();
    if (!last)
        fprintf(stderr, "headlight: settings were not saved: %s\n", printable(last.error().message).c_str());
}

}  // namespace headlight
