// Sends requests to the worker and applies its answers to the session.
#pragma once

#include <future>
#include <vector>

#include "hub/library.h"
#include "window/window_state.h"

namespace headlight {

class WorkerLink {
public:
    explicit WorkerLink(WindowState& state) : state_(state) {}
    ~WorkerLink() { close(); }

    /// Sends the session's request unless it is already sent.
    void ask();
    /// Takes the newest answer, if any.
    bool take_answer();
    /// Lists the models of other programs when the models sheet is first opened.
    void look_for_models();
    bool looks_for_models() const { return looking_.valid(); }

    /// Puts the texts of the session into the fields.
    void show_texts();
    /// Unlocks the cell and clears the notice if something was typed since the last call.
    void note_typing();
    /// False if the file cannot be used, with the error in the notice; the open document stays then.
    bool open_workspace_file(const std::string& path);

    /// Whether the fields differ from the text of the answer on screen.
    bool awaits_text() const;
    double asked_at() const { return asked_at_; }
    double answered_at() const { return answered_at_; }
    void close() { looking_ = {}; }

private:
    WorkRequest wanted();
    void show_written();

    WindowState& state_;
    WorkRequest asked_;
    double asked_at_ = 0;     // when the last change was sent to the worker
    double answered_at_ = 0;  // when the answer to the oldest key press that is not on screen arrived
    std::future<Result<std::vector<FoundModel>>> looking_;
    std::string last_text_;
    std::string written_target_;  // what the model generated for the second field
};

/// Copies state kept elsewhere into the session, so that it can be saved.
void note_state(WindowState& state);

}  // namespace headlight
