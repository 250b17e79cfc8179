// What is kept of the window while it is open: settings and a workspace for recovery soon after each change,
// labels at once.
#include <GLFW/glfw3.h>

#include <algorithm>
#include <utility>

#include "base/quoted.h"
#include "io/output_file.h"
#include "session/workspace.h"
#include "window/application.h"

namespace headlight {

namespace {

constexpr double kShownLongEnough = 2;  // seconds after which a picture cannot be what ends the program

/// Writes what changed since it was called last; a failure is made up for by the next call.
class SettingsWriter {
public:
    SettingsWriter(Json found, std::set<std::string> looked_at, std::filesystem::path recovery)
        : last_(std::move(found)), looked_at_(std::move(looked_at)), recovery_(std::move(recovery)) {}

    Status operator()(const Saver::Snapshot& now) {
        const Status kept =
            recovery_.empty() || now.workspace.is_null()
                ? success()
                : write_file(recovery_,
                             now.workspace.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
        TRY_STATUS(remember_settings(settings_path(), last_, now.settings, looked_at_));
        last_ = now.settings;
        return kept;
    }

private:
    Json last_;
    std::set<std::string> looked_at_;  // keys
    std::filesystem::path recovery_;
};

void put_first(std::vector<std::string>& recent, const std::string& text) {
    recent.erase(std::remove(recent.begin(), recent.end(), text), recent.end());
    recent.insert(recent.begin(), text);
    if (recent.size() > 8) recent.resize(8);
}

}  // namespace

void Application::begin_remembering(const Session& found) {
    const auto fields = settings_fields(found);
    saver_ = std::make_unique<Saver>(
        SettingsWriter(fields ? *fields : Json::object(), workspace_fields(found.visits), recovery_->own()));
}

/// Offers what was left, unless that is what was opened anyway.
void Application::offer_left_workspace() {
    if (!recovery_ || !recovery_->left()) return;
    const auto opened = workspace_document(session_);
    const FoundFile left = find_remembered(recovery_->left()->workspace, false);
    const bool same = opened && left.root == *opened, unreadable = left.root.empty();
    if (same || unreadable)
        recovery_->drop_left();
    else
        session_.document.left_workspace = recovery_->left()->workspace.string();
}

/// What is to be remembered of the state just now.
Session Application::remembered_state() {
    if (!glfwGetWindowAttrib(window_, GLFW_ICONIFIED))
        glfwGetWindowSize(window_, &session_.preferences.window_width, &session_.preferences.window_height);
    note_state();
    Session now = session_;
    if (answer_ && !answer_->model_error.empty() && answer_->sentence)
        now.document.model_path = answer_->sentence->model->path.string();
    return now;
}

/// In each turn of the window's loop: what is due. Labels are written after the frame that shows them; those
/// that failed, here.
void Application::see_to_remembering() {
    if (!recovery_) return;
    if (std::exchange(session_.document.left_unwanted, false)) {
        recovery_->drop_left();
        session_.document.left_workspace.clear();
        frames_wanted_ = std::max(frames_wanted_, 1);
    }
    const double now = glfwGetTime();
    if (shown_since_ > 0 && now >= shown_since_ + kShownLongEnough) {
        recovery_->mark_shown();
        shown_since_ = -1;
    }
    if (shown_since_ == 0 && pictures_.of_picture) shown_since_ = now;
    if (saving_settings_ && !saver_->busy()) {
        saving_settings_ = false;
        [[maybe_unused]] const Status told = tell_of_saving();
    }
    if (save_clock_.take(now)) save_now();
}

/// How long the window may sleep until see_to_remembering() has something to do; none: for as long as it
/// likes.
std::optional<double> Application::seconds_to_remembering() const {
    if (!recovery_) return std::nullopt;
    const double now = glfwGetTime();
    constexpr double kLook = 0.1;  // at what is being written
    auto wait = save_clock_.wait(now);
    if (saving_settings_) wait = std::min(wait.value_or(kLook), kLook);
    if (shown_since_ > 0)
        wait =
            std::min(wait.value_or(kShownLongEnough), std::max(0.0, shown_since_ + kShownLongEnough - now));
    return wait;
}

/// Labels that could not be written wait for the next time.
void Application::write_labels() {
    auto all = remember_labels(settings_path(), session_.document.label_edits);
    if (!all) {
        if (save_error_ != all.error().message)
            session_.notice = "The label is not written: " + all.error().message;
        save_error_ = all.error().message;
        return;
    }
    session_.document.label_edits.clear();
    if (options_.settings.empty()) session_.document.head_labels = *std::move(all);
    frames_wanted_ = std::max(frames_wanted_, 1);
}

/// How the last saving went; the person is told of a failure until it is over.
Status Application::tell_of_saving() {
    Status last = saver_->last();
    if (!last && (session_.notice.empty() || save_error_ != last.error().message)) {
        session_.notice = "What you do is not remembered: " + last.error().message;
        frames_wanted_ = std::max(frames_wanted_, 1);
    }
    save_error_ = last ? "" : last.error().message;
    return last;
}

void Application::save_now() {
    if (!session_.document.label_edits.empty()) write_labels();
    const Status last = tell_of_saving();
    const Session now = remembered_state();
    const auto settings = settings_fields(now), workspace = workspace_document(now);
    if (!settings) {
        if (session_.notice.empty())
            session_.notice = "What you do is not remembered: " + settings.error().message;
        return;
    }
    Saver::Snapshot snapshot{*settings, workspace ? *workspace : Json()};
    if (saved_ == snapshot && last) return;
    saved_ = snapshot;
    saver_->put(std::move(snapshot));
    saving_settings_ = true;
}

/// Writes all that is to be remembered before the window ends.
void Application::finish_remembering() {
    if (!recovery_) return;
    if (!session_.document.label_edits.empty()) write_labels();
    note_state();
    if (session_.document.text.size() > 3 && session_.document.text.size() < 2000)
        put_first(session_.preferences.recent_texts, session_.document.text);
    save_now();
    const Status last = saver_->finish();
    if (!last)
        fprintf(stderr, "headlight: settings were not remembered: %s\n",
                printable(last.error().message).c_str());
}

}  // namespace headlight
