// Lists, checks and writes lessons.
#include "panels/lesson/lesson.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "base/cast.h"
#include "base/quoted.h"
#include "cli/options.h"
#include "cli/validators.h"
#include "cli/verbs.h"
#include "hub/library.h"
#include "io/json.h"
#include "io/output_file.h"
#include "learn/lessons/check.h"

namespace headlight {

namespace {

namespace fs = std::filesystem;

struct LessonOptions {
    std::string what = "list", name, output;
    int threads = 0;
    bool json = false;
};

std::string progress_text(const std::string& name, const lessons::Lesson& lesson) {
    const auto results = known_results(name, lesson);
    const std::string of = std::to_string(lesson.tasks.size()) + " tasks";
    return results ? std::to_string(results->done()) + " of " + of + " done" : of;
}

Status list_lessons(const LessonOptions& o) {
    auto list = nlohmann::ordered_json::array();
    std::string out;
    for (const auto& [name, lesson] : lessons::built_in_lessons()) {
        const auto results = known_results(name, lesson);
        list.push_back({{"name", name},
                        {"title", lesson.title},
                        {"minutes", lesson.minutes},
                        {"tasks", lesson.tasks.size()},
                        {"done", results ? results->done() : 0}});
        out += name + std::string(28 - std::min<size_t>(26, name.size()), ' ') + lesson.title + ", " +
               std::to_string(lesson.minutes) + " minutes, " + progress_text(name, lesson) + "\n";
    }
    return o.json ? print_json(json_text(list, 2) + "\n") : print(out);
}

/// Opens the lesson's model: built in, by path, or beside its file.
Result<std::shared_ptr<const Model>> model_of_lesson(const LessonOptions& o, const lessons::Lesson& lesson) {
    std::error_code ignored;
    const fs::path beside = fs::path(o.name).parent_path() / lesson.model;
    return open_model(!lessons::find_built_in_lesson(o.name) && fs::exists(beside, ignored) ? beside.string()
                                                                                            : lesson.model);
}

/// "3  Bring “ball” below 10 %: its solution solves it. Done. Two cells take 96.8 points."
std::string checked_line(int number, const lessons::Task& task, const lessons::CheckedTask& checked) {
    const std::string head = std::to_string(number) + "  " + task.title + ": ";
    if (checked.solved.met) return head + "its solution solves it. " + checked.solved.says + "\n";
    return head + "can be judged; it has no solution to try. " + checked.begin.says + "\n";
}

/// Says which task cannot be used as it is, and of how many.
Error unusable_task(const LessonOptions& o, const lessons::Lesson& lesson, int task, const std::string& why) {
    return {o.name + ": task " + std::to_string(task + 1) + " of " + std::to_string(lesson.tasks.size()) +
            ", " + in_quotes(lesson.tasks[task].title) + ", cannot be used: " + why};
}

Status check_lesson(const LessonOptions& o) {
    TRY(const lessons::Lesson lesson, find_lesson(o.name));
    TRY_STATUS(check_lesson_views(lesson, o.name));
    TRY(const auto model, model_of_lesson(o, lesson));
    ThreadPool pool(o.threads);
    TRY(const auto own, lessons::run_lesson(model, lesson.text, lesson.second, {}, pool));
    auto list = nlohmann::ordered_json::array();
    std::string out;
    for (int i = 0; i < isize(lesson.tasks); ++i) {
        const lessons::Task& task = lesson.tasks[i];
        TRY(const lessons::CheckedTask checked, lessons::check_task(lesson, task, own, pool));
        if (!checked.trouble.empty()) return unusable_task(o, lesson, i, checked.trouble);
        out += checked_line(i + 1, task, checked);
        list.push_back({{"task", i + 1},
                        {"title", task.title},
                        {"kind", lessons::task_kinds()[static_cast<size_t>(task.kind)]},
                        {"solved", checked.solved.met}});
    }
    return o.json ? print_json(json_text(list, 2) + "\n") : print(out);
}

/// Writes a lesson to start from: the example of docs/teaching.md, or a built-in one.
Status write_lesson(const LessonOptions& o) {
    if (o.output.empty()) return Error{"Name the file to write, -o mine.headlight-lesson.json for example."};
    if (!is_standard_stream(o.output) && !lessons::is_lesson(o.output))
        return Error{"A lesson’s file ends in " + std::string(lessons::kLessonEnding) + "; correct -o."};
    if (!o.name.empty() && !lessons::find_built_in_lesson(o.name))
        return Error{"There is no built-in lesson " + in_quotes(o.name) + "; “headlight lesson” lists them."};
    return write_file(
        o.output, o.name.empty() ? lessons::example_lesson_text() : lessons::built_in_lesson_text(o.name));
}

Status run_lesson_verb(const LessonOptions& o) {
    if (o.what != "new" && !o.output.empty()) return Error{"-o goes with “lesson new”; leave it out."};
    if (o.what == "list" && !o.name.empty())
        return Error{"“lesson list” takes no name; write “lesson check " + shortened(o.name) + "”."};
    if (o.what == "new")
        return o.json ? Status(Error{"--json does not go with “lesson new”; leave it out."})
                      : write_lesson(o);
    if (o.what == "list") return list_lessons(o);
    if (o.name.empty())
        return Error{"Name a lesson to check: a file, or a built-in one; “headlight lesson” lists them."};
    return check_lesson(o);
}

}  // namespace

std::function<Status()> declare_lesson(CLI::App& app) {
    auto o = std::make_shared<LessonOptions>();
    app.add_option("what", o->what,
                   "list: the built-in lessons; check: whether each task of a lesson can be judged in its "
                   "model, and its solution solves it; new: writes a lesson to start from")
        ->check(one_of({"list", "check", "new"}));
    app.add_option("name", o->name, "a lesson's file, or a built-in one by name");
    app.add_option("-o,--output", o->output, "for new: the file to write; '-': standard output");
    app.add_flag("--json", o->json, "JSON instead of text");
    app.add_option("--threads", o->threads, "number of compute threads")->check(within(1, 256));
    return [o] { return run_lesson_verb(*o); };
}

}  // namespace headlight
