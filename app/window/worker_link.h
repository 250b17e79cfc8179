// What is asked of the worker, and what its answers do to the session.
#pragma once

#include <future>
#include <vector>

#include "hub/library.h"
#include "window/window_state.h"

namespace headlight {

class WorkerLink {
public:
    explicit WorkerLink(WindowState& desk) : desk_(desk) {}
    ~WorkerLink() { close(); }

    /// Asks for what the session wants now, unless that is asked already.
    void ask();
    /// Takes the newest answer, where there is one.
    bool take_answer();
    /// Lists the models of other programs when the sheet of models is opened for the first time.
    void look_for_models();
    bool looks_for_models() const { return looking_.valid(); }

    /// Puts the texts of the session into the fields.
    void show_texts();
    /// What was typed since the last call unlocks the cell and takes the notice away.
    void note_typing();
    /// False where the file cannot be used, which the notice says; what was open stays then.
    bool open_workspace_file(const std::string& path);

    /// Whether the fields hold another text than the answer that is shown.
    bool awaits_text() const;
    double asked_at() const { return asked_at_; }
    double answered_at() const { return answered_at_; }
    void close() { looking_ = {}; }

private:
    WorkRequest wanted();
    void show_written();

    WindowState& desk_;
    WorkRequest asked_;
    double asked_at_ = 0;     // when the last change was handed to the worker
    double answered_at_ = 0;  // when the answer to the oldest key press that is not on the screen came
    std::future<Result<std::vector<FoundModel>>> looking_;
    std::string last_text_;
    std::string written_target_;  // what the model wrote for the second field
};

/// Writes what stands elsewhere into the session, so that it can be saved.
void note_state(WindowState& desk);

}  // namespace headlight
