// Checks whether the tasks of a lesson can be judged in its model, and its solutions solve them.
#pragma once

#include "learn/lessons/judge.h"
#include "trace/trace.h"

namespace headlight::lessons {

/// Holds what the check of one task found.
struct CheckedTask {
    std::string trouble;  // why it cannot be judged, is met at the start, or is not solved; "": all well
    Verdict begin;        // as the lesson opens
    Verdict solved;       // with its solution; not tried if it has none
};

/// Runs the lesson's sentence in its model.
Result<std::shared_ptr<const Trace>> run_lesson(const std::shared_ptr<const Model>& model,
                                                const std::string& text, const std::string& second,
                                                const Intervention& changes, ThreadPool& pool);

/// Judges a try at a task, from words: metric: changes as --change reads them; head: "0.0"; look: a position;
/// layer: its number; answer: the sentence; station: the answer, or "read". No words: as the lesson opens.
Result<Verdict> judge_words(const Lesson& lesson, const Task& task, const std::vector<std::string>& words,
                            const std::shared_ptr<const Trace>& own, ThreadPool& pool);

/// `own`: the lesson's sentence in its model.
Result<CheckedTask> check_task(const Lesson& lesson, const Task& task,
                               const std::shared_ptr<const Trace>& own, ThreadPool& pool);

}  // namespace headlight::lessons
