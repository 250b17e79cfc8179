// Defines a lesson: a sentence in a model, what is locked, and tasks that the program judges. A lesson is a
// file that a teacher writes; docs/teaching.md documents every key.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace headlight::lessons {

/// Says how a task is judged.
/// metric: a metric below or above a bound, by masked cells or ablated heads
/// head: a head whose statistic is large enough
/// look: the word that a query of a head looks at most
/// answer: another sentence after which the model says a word
/// layer: the first layer after which the logit lens says a word
/// station: a station of Learn, read, or a question about it answered
enum class TaskKind { metric, head, look, answer, layer, station };

/// Says what a task of the kind metric counts.
enum class Means { mask, ablate, either };

/// Holds a task. Each kind uses the fields under its name; lesson.cpp lists its keys.
struct Task {
    TaskKind kind = TaskKind::metric;
    std::string title, text;
    std::vector<std::string> hints;
    std::string view;                   // key of the view that it opens; "": the one in use
    std::string head;                   // selected at its start; of look: whose row is judged
    std::vector<std::string> solution;  // for `lesson check`; never shown

    std::string metric;  // metric: as --metric reads it
    std::optional<double> below, above;
    Means by = Means::mask;
    int at_most = 0;  // … so many cells and heads; 0: any number

    std::string statistic;           // head: its key
    std::optional<double> at_least;  // none: the largest of all heads

    int query = -1;              // look: position of the row; −1: the last
    bool without_first = false;  // ignores the first token, on which heads rest

    std::string word;  // answer, layer; of layer: "" is the model's own answer
    int changes = 1;   // answer: at most so many words differ from the lesson's sentence

    std::string station;               // station: its key in Learn
    bool answered = false;             // its own first question is to be answered, not only read
    std::vector<std::string> choices;  // answers to the question in `text`; none: read it
    std::string right;                 // one of them

    bool operator==(const Task&) const = default;
};

/// Says what a lesson keeps as it is.
struct Locks {
    bool model = false, sentence = false, interventions = false;
    std::vector<std::string> views;  // keys
    bool operator==(const Locks&) const = default;
};

struct Lesson {
    std::string title, author, words;  // words: of the teacher
    int minutes = 0;                   // 0: not said
    std::string model = "stories", text, second;
    std::string view;     // key of the view at the start; "": the first
    bool ordered = true;  // a task opens once the one before it is done
    Locks locks;
    std::vector<Task> tasks;

    bool operator==(const Lesson&) const = default;
};

/// Bounds what a file may hold.
inline constexpr int kMaxTasks = 50, kMaxHints = 10, kMaxMinutes = 10000;
inline constexpr size_t kMaxLine = 200, kMaxWords = 2000, kMaxSentence = 20000, kMaxLessonBytes = 1 << 20;

/// "metric", "head" …: the words of TaskKind, in its order.
std::span<const char* const> task_kinds();

/// The ending of a lesson's file.
inline constexpr std::string_view kLessonEnding = ".headlight-lesson.json";
bool is_lesson(const std::filesystem::path& path);

/// Reads a lesson; an error names the file, the key, and what helps. Refuses unknown keys. Whether the model
/// has the named views, heads and words is judged with it (check.h).
Result<Lesson> parse_lesson(std::string_view text, const std::string& file);
Result<Lesson> open_lesson(const std::filesystem::path& path);

/// Returns a number that changes with anything that changes how a task is judged or what it asks.
std::string task_digest(const Lesson& lesson, const Task& task);

/// A lesson that comes with the program: its name, as `headlight lesson` lists it, and the lesson.
struct BuiltInLesson {
    std::string name;
    Lesson lesson;
};
std::span<const BuiltInLesson> built_in_lessons();
const BuiltInLesson* find_built_in_lesson(std::string_view name);
/// The text of a lesson that shows each kind of task, to start from.
std::string_view example_lesson_text();
/// The text of a built-in lesson's file.
std::string_view built_in_lesson_text(std::string_view name);

}  // namespace headlight::lessons
