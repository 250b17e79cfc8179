#include "learn/lessons/results.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/cast.h"
#include "base/quoted.h"
#include "io/file_version.h"
#include "io/mapped_file.h"
#include "io/output_file.h"

namespace headlight::lessons {

namespace {

constexpr const char* kResultsFormat = "headlight-results";
constexpr double kLongest = 1e9;  // seconds

Result<Attempt> read_attempt(const Json& row, const std::string& file) {
    if (!row.is_object()) return Error{file + ": a try must be an object; correct the file, or delete it."};
    Attempt out;
    TRY(out.what, json_string(row, "what", "", file));
    TRY(out.value, json_string(row, "value", "", file));
    TRY(const double place, json_number(row, "place", 0, file));
    out.place = float(std::clamp(place, 0.0, 1.0));
    TRY(const int64_t count, json_integer(row, "count", 0, 0, 1 << 30, file));
    out.count = static_cast<int>(count);
    TRY(out.met, json_boolean(row, "met", false, file));
    out.what = shortened(out.what, kMaxLine);
    out.value = shortened(out.value, kMaxLine);
    return out;
}

Result<TaskResult> read_task_result(const Json& row, const std::string& file) {
    if (!row.is_object()) return Error{file + ": a task must be an object; correct the file, or delete it."};
    TaskResult out;
    TRY(out.title, json_string(row, "title", "", file));
    TRY(out.digest, json_string(row, "task", "", file));
    TRY(out.done, json_boolean(row, "done", false, file));
    TRY(const int64_t hints, json_integer(row, "hints", 0, 0, kMaxHints, file));
    TRY(const double seconds, json_number(row, "seconds", 0, file));
    TRY(const int64_t count, json_integer(row, "tries", 0, 0, 1 << 30, file));
    TRY(const Json attempts, json_list(row, "last_tries", file));
    out.hints = static_cast<int>(hints);
    out.seconds = std::clamp(seconds, 0.0, kLongest);
    out.tries = static_cast<int>(count);
    for (const Json& one : attempts) {
        if (isize(out.attempts) == kMaxAttempts) break;
        TRY(Attempt attempt, read_attempt(one, file));
        out.attempts.push_back(std::move(attempt));
    }
    return out;
}

nlohmann::ordered_json written_task(const TaskResult& t) {
    nlohmann::ordered_json attempts = nlohmann::ordered_json::array();
    for (const Attempt& a : t.attempts)
        attempts.push_back(
            {{"what", a.what}, {"value", a.value}, {"place", a.place}, {"count", a.count}, {"met", a.met}});
    return {{"title", t.title},
            {"task", t.digest},
            {"done", t.done},
            {"hints", t.hints},
            {"tries", t.tries},
            {"seconds", std::round(t.seconds)},
            {"last_tries", std::move(attempts)}};
}

}  // namespace

const Attempt* TaskResult::best() const {
    const Attempt* out = nullptr;
    for (const Attempt& one : attempts)
        if (one.met && (!out || one.count < out->count)) out = &one;
    return out;
}

int Results::done() const {
    return narrow<int>(std::count_if(tasks.begin(), tasks.end(), [](const auto& t) { return t.done; }));
}

Results no_results(const Lesson& lesson) {
    Results out;
    out.lesson = lesson.title;
    for (const Task& task : lesson.tasks)
        out.tasks.push_back({.title = task.title, .digest = task_digest(lesson, task)});
    return out;
}

bool note_try(TaskResult& task, const Verdict& v) {
    if (!v.tried || !v.refusal.empty()) return false;
    Attempt now{v.used, v.now.text, v.now.place, v.count, v.met};
    if (!task.attempts.empty() && task.attempts.back() == now) return false;
    if (isize(task.attempts) == kMaxAttempts) task.attempts.erase(task.attempts.begin());
    task.attempts.push_back(std::move(now));
    ++task.tries;
    task.done = task.done || v.met;
    return true;
}

bool is_open(const Lesson& lesson, const Results& results, int task) {
    if (task < 0 || task >= isize(lesson.tasks)) return false;
    if (!lesson.ordered) return true;
    return std::all_of(results.tasks.begin(), results.tasks.begin() + task,
                       [](const TaskResult& one) { return one.done; });
}

Result<Results> read_results(std::string_view text, const std::string& file) {
    if (text.size() > kMaxLessonBytes * 8) return Error{file + " is larger than 8 MB, which no results are."};
    TRY(const Json root, parse_json(text, file));
    const Error foreign{file + " does not hold results of a lesson; move it elsewhere."};
    if (!root.is_object()) return foreign;
    TRY(const std::string format, json_string(root, "format", "", file));
    if (format != kResultsFormat) return foreign;
    TRY_STATUS(check_version(root, file));
    Results out;
    TRY(out.lesson, json_string(root, "lesson", "", file));
    TRY(out.who, json_string(root, "who", "", file));
    TRY(out.began, json_string(root, "began", "", file));
    TRY(out.continued, json_string(root, "continued", "", file));
    for (std::string* text_of : {&out.lesson, &out.who, &out.began, &out.continued})
        *text_of = shortened(*text_of, kMaxLine);
    TRY(const int64_t current, json_integer(root, "current", 1, 1, kMaxTasks, file));
    out.current = static_cast<int>(current) - 1;
    TRY(const Json tasks, json_list(root, "tasks", file));
    if (isize(tasks) > kMaxTasks)
        return Error{file + " lists " + std::to_string(tasks.size()) + " tasks; a lesson has at most " +
                     std::to_string(kMaxTasks) + "."};
    for (const Json& row : tasks) {
        TRY(TaskResult task, read_task_result(row, file));
        out.tasks.push_back(std::move(task));
    }
    return out;
}

Result<Results> parse_results(std::string_view text, const std::string& file, const Lesson& lesson) {
    TRY(Results read, read_results(text, file));
    Results out = no_results(lesson);
    std::tie(out.who, out.began, out.continued) = std::tie(read.who, read.began, read.continued);
    for (TaskResult& task : out.tasks)
        for (TaskResult& known : read.tasks)
            if (task.digest == known.digest) task = known;
    out.current = std::clamp(read.current, 0, isize(lesson.tasks) - 1);
    while (out.current > 0 && !is_open(lesson, out, out.current)) --out.current;
    return out;
}

Result<Results> open_results(const std::filesystem::path& path, const Lesson& lesson) {
    TRY(const auto file, MappedFile::open(path));
    return parse_results(file->text(), display_path(path), lesson);
}

std::string results_text(const Results& r) {
    nlohmann::ordered_json tasks = nlohmann::ordered_json::array();
    for (const TaskResult& task : r.tasks) tasks.push_back(written_task(task));
    const nlohmann::ordered_json root{
        {"format", kResultsFormat}, {"version", kFileVersion},  {"lesson", r.lesson}, {"who", r.who},
        {"began", r.began},         {"continued", r.continued}, {"done", r.done()},   {"of", r.tasks.size()},
        {"current", r.current + 1}, {"tasks", std::move(tasks)}};
    return json_text(root, 2) + "\n";
}

Status save_results(const std::filesystem::path& path, const Results& results) {
    return write_file(path, results_text(results));
}

std::filesystem::path results_path(const std::filesystem::path& lesson) {
    std::string name = lesson.filename().string();
    if (is_lesson(lesson))
        name.resize(name.size() - kLessonEnding.size());
    else if (name.ends_with(".json"))
        name.resize(name.size() - 5);
    return lesson.parent_path() / (name + ".results.json");
}

}  // namespace headlight::lessons
