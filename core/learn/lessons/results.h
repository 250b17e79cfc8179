// Holds what a person did in a lesson, and its file: tries, times, hints, and where to go on.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "learn/lessons/judge.h"
#include "learn/lessons/lesson.h"

namespace headlight::lessons {

/// Is one judged try.
struct Attempt {
    std::string what, value;  // "red 16 → ball 4", "92.4 %"
    float place = 0;          // of the value on the task's bar, 0 … 1
    int count = 0;            // cells, heads or words that it took
    bool met = false;
    bool operator==(const Attempt&) const = default;
};

/// Holds the progress in one task.
struct TaskResult {
    std::string title, digest;  // task_digest(): a task that changed starts over
    bool done = false;
    int hints = 0;       // how many were shown
    double seconds = 0;  // in which the task was open
    int tries = 0;       // in all; `attempts` holds the last ones
    std::vector<Attempt> attempts;
    bool operator==(const TaskResult&) const = default;

    /// The try that met the goal with the fewest cells; null: none did.
    const Attempt* best() const;
};

struct Results {
    std::string lesson, who;       // the lesson's title; who: a name, if one was given
    std::string began, continued;  // UTC, "2026-11-26T10:00:00Z"
    int current = 0;               // the open task
    std::vector<TaskResult> tasks;
    bool operator==(const Results&) const = default;

    int done() const;
};

inline constexpr int kMaxAttempts = 200;

/// Makes results of a lesson before its first try.
Results no_results(const Lesson& lesson);

/// Adds a judged try; a try that equals the last one is none. Returns whether something was added.
bool note_try(TaskResult& task, const Verdict& verdict);

/// Returns whether a task may be opened: every one, or those up to the first that is not done.
bool is_open(const Lesson& lesson, const Results& results, int task);

/// Reads results as they were written; an error names the file.
Result<Results> read_results(std::string_view text, const std::string& file);
/// Reads results and fits them to the lesson: tasks that changed start over.
Result<Results> parse_results(std::string_view text, const std::string& file, const Lesson& lesson);
Result<Results> open_results(const std::filesystem::path& path, const Lesson& lesson);
std::string results_text(const Results& results);
/// The file appears whole or not at all.
Status save_results(const std::filesystem::path& path, const Results& results);

/// "how-it-copies.headlight-lesson.json" → "how-it-copies.results.json", in the same folder.
std::filesystem::path results_path(const std::filesystem::path& lesson);

}  // namespace headlight::lessons
