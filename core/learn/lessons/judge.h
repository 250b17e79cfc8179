// Judges the tasks of a lesson: a function of the task, the shown run and what was answered.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/comparison/run_pair.h"
#include "learn/lessons/lesson.h"

namespace headlight::lessons {

/// Is a number of a task as it is shown: written out, and its place on the bar, 0 … 1.
struct Shown {
    std::string text;  // "": none
    float place = 0;
};

/// Holds what the program says to a task as it stands.
struct Verdict {
    bool met = false;
    bool tried = false;         // there is a try to judge: something masked, answered or typed
    std::string refusal;        // why it cannot be judged, or ""
    std::string quantity;       // "p of “ball”", "previous token"
    Shown now, before, goal;    // before: of the unchanged run
    std::string says, further;  // one sentence each; further: "" or what is missing
    std::string used;           // what is judged: "red 16 → ball 4", "head 0.0"
    int count = 0;              // of masked cells and ablated heads, or changed words
    double value = 0;           // now, as a number

    bool operator==(const Verdict& other) const {
        return met == other.met && says == other.says && used == other.used && refusal == other.refusal &&
               value == other.value;
    }
};

/// Asks how a task stands. Whoever asks names what was answered; masks and changes are those of the run.
struct JudgeRequest {
    using Answer = Verdict;
    Task task;
    std::string answer;      // head: "0.0"; look: a position; layer: its number; station: a choice, "read" or
                             // "answered"
    std::string text, from;  // answer: the sentence as it is, and the lesson's
    bool operator==(const JudgeRequest&) const = default;
};

/// `runs.own`: the model's own run, if something is changed. Fails only if it was cancelled.
Result<Verdict> judge(const Runs& runs, const JudgeRequest& request, ThreadPool& pool,
                      const CancelFlag* cancel = nullptr);

/// Returns whether a task is answered by a button and not judged while one works.
bool is_answered(TaskKind kind);

/// Returns the words in which `text` differs from `from`: the least number of words to change, add or drop.
int changed_words(const std::string& from, const std::string& text);

}  // namespace headlight::lessons
