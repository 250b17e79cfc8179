// Opens and leaves lessons, and moves within one.
#include <algorithm>

#include "base/cast.h"
#include "base/listed.h"
#include "base/quoted.h"
#include "panels/lesson/lesson.h"
#include "session/adopt.h"
#include "session/commands/choices.h"
#include "session/commands/commands.h"
#include "session/commands/word_parsers.h"
#include "views/views.h"

namespace headlight {

namespace {

using lessons::Task;
using lessons::TaskKind;

/// Opens the view of the open task, and Learn at its station.
void open_view_of(Session& session) {
    const LessonState* state = open_lesson_of(session);
    if (state && state->task().kind == TaskKind::station) {
        choose(session.views, find_view("learn")->visit, "learn", state->task().station);
        session.selection.view_name = "learn";
    }
    open_named_view(session, session.selection.view_name);
}

const char* in_lesson(const CommandContext& c) { return open_lesson_of(c.session) ? nullptr : ""; }

const char* answers(const CommandContext& c) {
    const LessonState* state = open_lesson_of(c.session);
    if (!state) return "";
    if (state->task().kind == TaskKind::metric) return "This task is judged while you work on it.";
    return c.sentence() ? nullptr : "The model is still being opened.";
}

/// Takes back the sentence and all interventions, as one step of undo.
void restore(CommandContext& c) {
    Session& s = c.session;
    const HistoryGroup one_step(s.document.history);
    const std::string text = open_lesson_of(s)->lesson->text;
    if (c.host.text(TextName::sentence) != text && !sentence_locked(s))
        c.host.set_text(TextName::sentence, text);
    s.document.intervene({});
    s.of<LessonState>().answer.clear();
}

Status go_to_task(CommandContext& c, int number) {
    Session& s = c.session;
    LessonState& state = s.of<LessonState>();
    if (!lessons::is_open(*state.lesson, state.results, number))
        return Error{number >= 0 && number < state.tasks()
                         ? "This task opens once the one before it is done."
                         : "The lesson has tasks 1 … " + std::to_string(state.tasks()) + "."};
    restore(c);  // while the task that may change the sentence is still open
    open_task(s, c.model() ? &c.model()->config : nullptr, number);
    state.changed = true;
    open_view_of(s);
    return success();
}

Status open_numbered(CommandContext& c, const std::string& words) {
    TRY(const double number, number_within("lesson task", words, 1, lessons::kMaxTasks, true));
    return go_to_task(c, static_cast<int>(number) - 1);
}

/// Why there is no next task, or null.
const char* has_next(const CommandContext& c) {
    const LessonState* state = open_lesson_of(c.session);
    if (!state) return "";
    if (state->results.current + 1 >= state->tasks()) return "This is the last task.";
    const bool open = lessons::is_open(*state->lesson, state->results, state->results.current + 1);
    return open ? nullptr : "The next task opens once this one is done.";
}

const char* has_hint(const CommandContext& c) {
    const LessonState* state = open_lesson_of(c.session);
    if (!state) return "";
    return state->result().hints < isize(state->task().hints) ? nullptr : "There is no further hint.";
}

void show_hint(CommandContext& c) {
    LessonState& state = c.session.of<LessonState>();
    ++state.result().hints;
    state.changed = true;
}

/// Answers the open task: "0.0", a position, a layer, a choice; of heads without words: the selected one.
Status answer_task(CommandContext& c, const std::string& words) {
    LessonState& state = c.session.of<LessonState>();
    const Task& task = state.task();
    std::string said = words;
    if (said.empty() && task.kind == TaskKind::head)
        said = head_path(c.model()->config, c.session.selection.block, c.session.selection.head);
    if (task.kind == TaskKind::head) {
        TRY(const AttentionHead head, parse_head(c.model()->config, said, "it"));
        said = head_path(c.model()->config, head);
    }
    if (task.kind == TaskKind::answer) said = "checked";
    if (said.empty()) return Error{"Give the answer: lesson answer WORDS."};
    const auto& choices = task.choices;
    if (!choices.empty() && std::find(choices.begin(), choices.end(), said) == choices.end())
        return Error{"The answers are " + listed(choices, "and") + "."};
    state.answer = said;
    state.revealed = true;
    return success();
}

Status name_person(CommandContext& c, const std::string& words) {
    LessonState& state = c.session.of<LessonState>();
    state.results.who = shortened(words, lessons::kMaxLine);
    state.changed = true;
    return success();
}

Status open_named_lesson(CommandContext& c, const std::string& words) {
    if (words.empty()) {
        std::vector<std::string> names;
        for (const auto& one : lessons::built_in_lessons()) names.push_back(one.name);
        return Error{"Name a lesson: a file, or " + listed(names, "or") + "."};
    }
    return c.host.open_lesson(words);
}

}  // namespace

Status check_lesson_views(const lessons::Lesson& lesson, const std::string& name) {
    std::vector<std::string> named = lesson.locks.views;
    named.push_back(lesson.view);
    for (const Task& task : lesson.tasks) named.push_back(task.view);
    for (const std::string& key : named) {
        const View* view = key.empty() ? nullptr : find_view(key);
        if (key.empty() || (view && key == view->key)) continue;
        std::vector<std::string> keys;
        for (const View& one : views()) keys.emplace_back(one.key);
        return Error{name + ": there is no view " + in_quotes(key) + "; write " + listed(keys, "or") + "."};
    }
    return success();
}

namespace {

/// Begins a lesson whose views all exist.
Result<Session> checked_lesson(const Session& session, const std::string& name) {
    TRY(Session begun, begin_lesson(session, name));
    TRY_STATUS(check_lesson_views(*begun.of<LessonState>().lesson, name));
    return begun;
}

/// Writes the time that was counted since the last try.
void keep_results(Session& session) {
    if (open_lesson_of(session)) write_results(session.of<LessonState>());
}

}  // namespace

Status start_lesson(Session& session, const std::string& name) {
    TRY(session, checked_lesson(session, name));
    open_view_of(session);
    return success();
}

Status show_lesson(Session& session, const Model* open, const std::string& name) {
    keep_results(session);
    TRY(Session begun, checked_lesson(session, name));
    adopt(session, &begun, Adopted::document, open);
    open_view_of(session);
    return success();
}

Status close_lesson(Session& session, const Model* open) {
    keep_results(session);
    TRY(Session left, leave_lesson(session));
    adopt(session, &left, Adopted::document, open);
    open_view_of(session);
    return success();
}

std::vector<Command> lesson_commands() {
    return in_group(
        "Files",
        {also_called(
             "course, tutorial, exercise, task",
             row({"lesson [NAME]", "Open a lesson", "open a lesson: a file, or a built-in one by name"},
                 open_named_lesson, outside_group)),
         row(
             {"lesson leave", "Leave the lesson", "leave the lesson; its results are kept"},
             [](CommandContext& c, const std::string&) { return c.host.leave_lesson(); }, in_lesson),
         row({"lesson task NUMBER", "Go to a task", "go to a task of the lesson"}, open_numbered, in_lesson),
         row(
             {"lesson next", "Next task", "go to the next task of the lesson"},
             [](CommandContext& c, const std::string&) {
                 return go_to_task(c, open_lesson_of(c.session)->results.current + 1);
             },
             has_next),
         row({"lesson hint", "Next hint", "show the next hint of the task"}, show_hint, has_hint),
         row({"lesson answer [WORDS]", "Answer the task",
              "answer the task: a head, a position, a layer, a choice; without words the selected head"},
             answer_task, answers),
         row({"lesson start over", "Start the task over",
              "take back everything masked, ablated or typed in this task"},
             restore, in_lesson),
         row({"lesson name [NAME]", "Your name in the results", "the name that the results are saved under"},
             name_person, in_lesson)});
}

}  // namespace headlight
