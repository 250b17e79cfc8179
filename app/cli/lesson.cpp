// Lists, checks and writes lessons.
#include "panels/lesson/lesson.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "base/cast.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "cli/options.h"
#include "cli/validators.h"
#include "cli/verbs.h"
#include "hub/library.h"
#include "io/json.h"
#include "io/mapped_file.h"
#include "io/output_file.h"
#include "learn/lessons/check.h"
#include "learn/lessons/results.h"

namespace headlight {

namespace {

namespace fs = std::filesystem;

struct LessonOptions {
    std::string what = "list", output;
    std::vector<std::string> names;
    int threads = 0;
    bool json = false;

    std::string name() const { return names.empty() ? "" : names[0]; }
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
    return o.json ? print_json(json_answer({{"lessons", std::move(list)}})) : print(out);
}

/// Opens the lesson's model: built in, by path, or beside its file.
Result<std::shared_ptr<const Model>> model_of_lesson(const LessonOptions& o, const lessons::Lesson& lesson) {
    std::error_code ignored;
    const fs::path beside = fs::path(o.name()).parent_path() / lesson.model;
    return open_model(!lessons::find_built_in_lesson(o.name()) && fs::exists(beside, ignored)
                          ? beside.string()
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
    return {o.name() + ": task " + std::to_string(task + 1) + " of " + std::to_string(lesson.tasks.size()) +
            ", " + in_quotes(lesson.tasks[task].title) + ", cannot be used: " + why};
}

Status check_lesson(const LessonOptions& o) {
    TRY(const lessons::Lesson lesson, find_lesson(o.name()));
    TRY_STATUS(check_lesson_views(lesson, o.name()));
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
    return o.json ? print_json(json_answer({{"tasks", std::move(list)}})) : print(out);
}

/// Writes a lesson to start from: the example of docs/teaching.md, or a built-in one.
Status write_lesson(const LessonOptions& o) {
    if (o.output.empty()) return Error{"Name the file to write, -o mine.headlight-lesson.json for example."};
    if (!is_standard_stream(o.output) && !lessons::is_lesson(o.output))
        return Error{"A lesson’s file ends in " + std::string(lessons::kLessonEnding) + "; correct -o."};
    if (!o.names.empty() && !lessons::find_built_in_lesson(o.name()))
        return Error{"There is no built-in lesson " + in_quotes(o.name()) +
                     "; “headlight lesson” lists them."};
    return write_file(
        o.output, o.names.empty() ? lessons::example_lesson_text() : lessons::built_in_lesson_text(o.name()));
}

/// The results of several people, of one lesson.
Result<std::vector<lessons::Results>> collected_results(const std::vector<std::string>& files) {
    std::vector<lessons::Results> out;
    for (const std::string& file : files) {
        TRY(const auto mapped, MappedFile::open(file));
        TRY(lessons::Results read, lessons::read_results(mapped->text(), display_path(file)));
        if (read.who.empty()) read.who = fs::path(file).filename().string();
        out.push_back(std::move(read));
        if (out.back().lesson != out[0].lesson || out.back().tasks.size() != out[0].tasks.size())
            return Error{display_path(file) + " holds results of " + in_quotes(out.back().lesson) + ", " +
                         display_path(files[0]) + " of " + in_quotes(out[0].lesson) +
                         "; name files of one lesson."};
    }
    return out;
}

nlohmann::ordered_json results_row(const lessons::Results& one) {
    auto tasks = nlohmann::ordered_json::array();
    for (const lessons::TaskResult& task : one.tasks)
        tasks.push_back({{"title", task.title},
                         {"done", task.done},
                         {"tries", task.tries},
                         {"hints", task.hints},
                         {"seconds", task.seconds}});
    return {{"who", one.who}, {"done", one.done()}, {"of", one.tasks.size()}, {"tasks", std::move(tasks)}};
}

/// One line a person: "Kim  3 of 5  12 min  1✓  2✓  –": the tries at each task, ticked where it is done.
std::string results_line(const lessons::Results& one, size_t widest) {
    double seconds = 0;
    std::string tasks;
    for (const lessons::TaskResult& task : one.tasks) {
        seconds += task.seconds;
        tasks += "  " + (task.tries == 0 && !task.done ? "–" : std::to_string(task.tries)) +
                 (task.done ? "✓" : "");
    }
    return one.who + std::string(widest + 2 - count_code_points(one.who), ' ') + std::to_string(one.done()) +
           " of " + std::to_string(one.tasks.size()) + "  " + decimals(seconds / 60, 0) + " min" + tasks +
           "\n";
}

Status print_results(const LessonOptions& o) {
    if (o.names.empty()) return Error{"Name the files of results, *.results.json for example."};
    TRY(const auto all, collected_results(o.names));
    auto rows = nlohmann::ordered_json::array();
    size_t widest = 0;
    for (const lessons::Results& one : all) {
        rows.push_back(results_row(one));
        widest = std::max(widest, count_code_points(one.who));
    }
    if (o.json) return print_json(json_answer({{"lesson", all[0].lesson}, {"results", rows}}));
    std::string out = all[0].lesson + ": tries at each task, ✓ where it is done\n";
    for (const lessons::Results& one : all) out += results_line(one, widest);
    return print(out);
}

Status run_lesson_verb(const LessonOptions& o) {
    if (o.what != "new" && !o.output.empty()) return Error{"-o goes with “lesson new”; leave it out."};
    if (o.what == "new" && o.json) return Error{"--json does not go with “lesson new”; leave it out."};
    if (o.what == "results") return print_results(o);
    if (o.names.size() > 1)
        return Error{"“lesson " + o.what + "” takes one lesson; leave out " + in_quotes(o.names[1]) + "."};
    if (o.what == "new") return write_lesson(o);
    if (o.what == "check" && !o.names.empty()) return check_lesson(o);
    if (o.what == "check")
        return Error{"Name a lesson to check: a file, or a built-in one; “headlight lesson” lists them."};
    if (o.names.empty()) return list_lessons(o);
    return Error{"“lesson list” takes no name; write “lesson check " + shortened(o.name()) + "”."};
}

}  // namespace

std::function<Status()> declare_lesson(CLI::App& app) {
    auto o = std::make_shared<LessonOptions>();
    app.add_option(
           "what", o->what,
           "list: the built-in lessons; check: whether each task of a lesson can be judged in its "
           "model, and its solution solves it; new: writes a lesson to start from; results: a table of "
           "files of results")
        ->check(one_of({"list", "check", "new", "results"}));
    app.add_option("name", o->names, "a lesson's file, or a built-in one by name; for results: their files");
    app.add_option("-o,--output", o->output, "for new: the file to write; '-': standard output");
    app.add_flag("--json", o->json, "JSON instead of text");
    app.add_option("--threads", o->threads, "number of compute threads")->check(within(1, 256));
    return [o] { return run_lesson_verb(*o); };
}

}  // namespace headlight
