// The open lesson: its task, its results and where they are saved, and what it locks.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "learn/lessons/results.h"
#include "session/session.h"

namespace headlight {

/// Refuses every locked control.
inline constexpr const char* kLockedByLesson = "Locked by the lesson; leave the lesson to use it.";

struct LessonState {
    std::shared_ptr<const lessons::Lesson> lesson;  // null: none is open
    std::string name;                               // its file's, or of a built-in one
    lessons::Results results;
    std::filesystem::path saved_in;  // file of the results; empty: nowhere
    std::string saving;              // where they are saved, or why they are not
    std::string answer;              // to the open task, as JudgeRequest reads it
    bool revealed = false;           // the view that a guess covers is shown
    bool placed = false;             // the task's head is selected, once its model is open
    bool changed = false;            // results are not written yet
    std::string before;              // what was open before, as a workspace's text

    const lessons::Task& task() const { return lesson->tasks[results.current]; }
    lessons::TaskResult& result() { return results.tasks[results.current]; }
    const lessons::TaskResult& result() const { return results.tasks[results.current]; }
    int tasks() const { return narrow<int>(lesson->tasks.size()); }
};

inline const LessonState* open_lesson_of(const Session& session) {
    const LessonState& state = session.of<LessonState>();
    return state.lesson ? &state : nullptr;
}

/// Reads a lesson by path, or a built-in one by name.
Result<lessons::Lesson> find_lesson(const std::string& name_or_path);

/// Reads a lesson's results from beside its file, or from the folder of settings; none: there are none yet.
std::optional<lessons::Results> known_results(const std::string& name_or_path, const lessons::Lesson& lesson);

/// A lesson opened over a session: its model and sentence, its results so far. `session`: what is open now,
/// to which leave_lesson() returns.
Result<Session> begin_lesson(const Session& session, const std::string& name_or_path);
/// The session as it was before the lesson.
Result<Session> leave_lesson(const Session& session);
/// The same for saving; the session itself if no lesson is open or it cannot be read back.
Session without_lesson(Session session);

/// Opens a task: selects its head, and takes back what other tasks changed. The text is put by the caller.
void open_task(Session& session, const ModelConfig* config, int task);

/// Selects the open task's head, once its model is known.
void choose_task_head(Session& session, const ModelConfig& config);

/// Asks how the open task stands; none if no lesson is open.
std::optional<lessons::JudgeRequest> judge_request(const Session& session);

/// Whether the view's picture waits for a guess.
bool covers_view(const LessonState& state);

bool sentence_locked(const Session& session);
bool model_locked(const Session& session);
bool interventions_locked(const Session& session);
/// Whether a view is locked, by its key.
bool view_locked(const Session& session, std::string_view key);

/// Why a command does nothing during the lesson, or null.
const char* locked_by_lesson(const Session& session, const std::string& command);

/// Writes the results; what could not be written is said in `saving`.
void write_results(LessonState& state);

}  // namespace headlight
