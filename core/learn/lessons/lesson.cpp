// Reads lessons from files, which are untrusted.
#include "learn/lessons/lesson.h"

#include <algorithm>
#include <array>

#include "analysis/attention/head_stats.h"
#include "base/listed.h"
#include "base/quoted.h"
#include "io/file_version.h"
#include "io/mapped_file.h"
#include "learn/station.h"

namespace headlight::lessons {

namespace {

constexpr const char* kFormat = "headlight-lesson";
constexpr const char* kKinds[] = {"metric", "head", "look", "answer", "layer", "station"};
constexpr const char* kMeans[] = {"mask", "ablate", "either"};

/// The keys of a lesson, of every task, and of each kind of task besides.
const std::vector<std::string> kLessonKeys = {"format",  "version", "title", "author", "minutes",
                                              "words",   "model",   "text",  "second", "view",
                                              "ordered", "locked",  "tasks"};
const std::vector<std::string> kTaskKeys = {"kind", "title", "text", "hints", "view", "head", "solution"};
const std::array<std::vector<std::string>, std::size(kKinds)> kKeysOf = {{
    {"metric", "below", "above", "by", "at_most"},
    {"statistic", "at_least"},
    {"query", "without_first"},
    {"word", "changes"},
    {"word"},
    {"station", "answered", "choices", "right"},
}};

/// Reads the fields of one object, and keeps the first error.
class LessonReader {
public:
    /// `where`: "lesson.json" or "lesson.json, task 2".
    LessonReader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {}

    const Status& status() const { return status_; }
    void fail(const std::string& why) {
        if (status_) status_ = Error{where_ + ": " + why};
    }

    void only(std::vector<std::string> keys, const std::string& of) {
        for (const auto& [key, value] : object_.items()) {
            if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
            for (std::string& known : keys) known = "“" + known + "”";
            return fail("the key " + in_quotes(key) + " is unknown; " + of + " has " + listed(keys, "and") +
                        ".");
        }
    }
    void text(const char* key, std::string& out, size_t longest, bool required = false) {
        take(json_string(object_, key, out, where_), out);
        bound(key, out, longest);
        if (required && out.empty()) fail(in_quotes(key) + " is missing; add it.");
    }
    void texts(const char* key, std::vector<std::string>& out, int most, size_t longest) {
        Json list = Json::array();
        take(json_list(object_, key, where_), list);
        if (isize(list) > most)
            return fail(in_quotes(key) + " has " + std::to_string(list.size()) + " entries; at most " +
                        std::to_string(most) + " are read.");
        for (const Json& one : list) {
            if (!one.is_string()) return fail(in_quotes(key) + " must hold strings only.");
            out.push_back(one.get<std::string>());
            bound(key, out.back(), longest);
        }
    }
    void whole(const char* key, int& out, int low, int high) {
        int64_t read = out;
        take(json_integer(object_, key, out, low, high, where_), read);
        out = static_cast<int>(read);
    }
    void number(const char* key, std::optional<double>& out) {
        if (!object_.contains(key)) return;
        double read = 0;
        take(json_number(object_, key, 0, where_), read);
        out = read;
    }
    void flag(const char* key, bool& out) { take(json_boolean(object_, key, out, where_), out); }
    /// One of some words, as an enum in their order.
    template <class Enum>
    void choose(const char* key, Enum& out, std::span<const char* const> words) {
        std::string word = words[static_cast<size_t>(out)];
        text(key, word, kMaxLine);
        const auto found = std::find(words.begin(), words.end(), word);
        if (found == words.end())
            return fail(in_quotes(key) + " is " + in_quotes(word) + "; it takes " +
                        listed({words.begin(), words.end()}, "or") + ".");
        out = static_cast<Enum>(found - words.begin());
    }

private:
    template <class T, class Read>
    void take(Result<Read> read, T& out) {
        if (read)
            out = *std::move(read);
        else if (status_)
            status_ = read.error();
    }
    void bound(const char* key, const std::string& text, size_t longest) {
        if (text.size() > longest)
            fail(in_quotes(key) + " has " + std::to_string(text.size()) + " bytes; at most " +
                 std::to_string(longest) + " are read.");
    }

    const Json& object_;
    std::string where_;
    Status status_ = success();
};

void read_metric(LessonReader& r, Task& t) {
    r.text("metric", t.metric, kMaxLine, true);
    r.number("below", t.below);
    r.number("above", t.above);
    r.choose("by", t.by, kMeans);
    r.whole("at_most", t.at_most, 0, 1 << 20);
    if (t.below.has_value() == t.above.has_value()) r.fail("give either “below” or “above”, a number.");
}

void read_head(LessonReader& r, Task& t) {
    r.text("statistic", t.statistic, kMaxLine, true);
    r.number("at_least", t.at_least);
    if (find_statistic(t.statistic) || !r.status()) return;
    std::vector<std::string> keys;
    for (const HeadStatistic& one : head_statistics()) keys.emplace_back(one.key);
    r.fail("there is no statistic " + in_quotes(t.statistic) + "; write " + listed(keys, "or") + ".");
}

void read_look(LessonReader& r, Task& t) {
    r.whole("query", t.query, -1, 1 << 20);
    r.flag("without_first", t.without_first);
    if (t.head.empty()) r.fail("“head” is missing: the head whose row is judged, “1.2” for example.");
}

void read_answer(LessonReader& r, Task& t) {
    r.text("word", t.word, kMaxLine, true);
    r.whole("changes", t.changes, 1, 1000);
}

void read_layer(LessonReader& r, Task& t) { r.text("word", t.word, kMaxLine); }

void read_station(LessonReader& r, Task& t) {
    r.text("station", t.station, kMaxLine, true);
    r.flag("answered", t.answered);
    r.texts("choices", t.choices, 8, kMaxLine);
    r.text("right", t.right, kMaxLine);
    if (r.status() && !learn::find_station(t.station))
        r.fail("Learn has no station " + in_quotes(t.station) + "; “headlight learn --list” lists them.");
    if (t.answered && !t.choices.empty()) r.fail("give either “answered” or “choices”.");
    const bool there = std::find(t.choices.begin(), t.choices.end(), t.right) != t.choices.end();
    if (t.choices.empty() ? !t.right.empty() : !there) r.fail("“right” must be one of “choices”.");
}

constexpr void (*kReadKind[])(LessonReader&, Task&) = {read_metric, read_head,  read_look,
                                                       read_answer, read_layer, read_station};

Result<Task> read_task(const Json& object, const std::string& where) {
    if (!object.is_object()) return Error{where + " must be an object; correct the file."};
    Task t;
    LessonReader r(object, where);
    if (!object.contains("kind"))
        r.fail("“kind” is missing; write " + listed({kKinds, std::end(kKinds)}, "or") + ".");
    r.choose("kind", t.kind, kKinds);
    TRY_STATUS(r.status());
    const auto kind = static_cast<size_t>(t.kind);
    std::vector<std::string> keys = kTaskKeys;
    keys.insert(keys.end(), kKeysOf[kind].begin(), kKeysOf[kind].end());
    r.only(keys, std::string("a task of the kind “") + kKinds[kind] + "”");
    r.text("title", t.title, kMaxLine, true);
    r.text("text", t.text, kMaxWords, true);
    r.texts("hints", t.hints, kMaxHints, kMaxWords);
    r.text("view", t.view, kMaxLine);
    r.text("head", t.head, kMaxLine);
    if (object.contains("solution") && object["solution"].is_string()) {
        t.solution.emplace_back();
        r.text("solution", t.solution[0], kMaxSentence);
    } else {
        r.texts("solution", t.solution, 200, kMaxLine);
    }
    kReadKind[kind](r, t);
    TRY_STATUS(r.status());
    return t;
}

Status read_locks(const Json& root, const std::string& file, Locks& out) {
    TRY(const Json object, json_object(root, "locked", file));
    LessonReader r(object, file + ", locked");
    r.only({"model", "sentence", "interventions", "views"}, "“locked”");
    r.flag("model", out.model);
    r.flag("sentence", out.sentence);
    r.flag("interventions", out.interventions);
    r.texts("views", out.views, 64, kMaxLine);
    return r.status();
}

/// Reports locks that would keep a task from being solved.
Status check_locks(const Lesson& lesson, const std::string& file) {
    for (size_t i = 0; i < lesson.tasks.size(); ++i) {
        const Task& t = lesson.tasks[i];
        const std::string where = file + ", task " + std::to_string(i + 1) + ": ";
        if (lesson.locks.interventions && t.kind == TaskKind::metric)
            return Error{where + "it needs interventions, which the lesson locks; unlock them."};
        const auto& views = lesson.locks.views;
        if (std::find(views.begin(), views.end(), t.view) != views.end())
            return Error{where + "it opens the view " + in_quotes(t.view) + ", which the lesson locks."};
    }
    return success();
}

}  // namespace

std::span<const char* const> task_kinds() { return kKinds; }

bool is_lesson(const std::filesystem::path& path) {
    return path.filename().string().ends_with(kLessonEnding);
}

Result<Lesson> parse_lesson(std::string_view text, const std::string& file) {
    if (text.size() > kMaxLessonBytes) return Error{file + " is larger than 1 MB, which no lesson is."};
    TRY(const Json root, parse_json(text, file));
    const Error foreign{file + " is not a lesson; write one with “headlight lesson new -o x" +
                        std::string(kLessonEnding) + "”."};
    if (!root.is_object()) return foreign;
    TRY(const std::string format, json_string(root, "format", "", file));
    if (format != kFormat) return foreign;
    TRY_STATUS(check_version(root, file));
    Lesson out;
    LessonReader r(root, file);
    r.only(kLessonKeys, "a lesson");
    r.text("title", out.title, kMaxLine, true);
    r.text("author", out.author, kMaxLine);
    r.text("words", out.words, kMaxWords);
    r.whole("minutes", out.minutes, 0, kMaxMinutes);
    r.text("model", out.model, 4096, true);
    r.text("text", out.text, kMaxSentence, true);
    r.text("second", out.second, kMaxSentence);
    r.text("view", out.view, kMaxLine);
    r.flag("ordered", out.ordered);
    TRY_STATUS(r.status());
    TRY_STATUS(read_locks(root, file, out.locks));
    TRY(const Json tasks, json_list(root, "tasks", file));
    if (tasks.empty() || isize(tasks) > kMaxTasks)
        return Error{file + ": “tasks” must list 1 … " + std::to_string(kMaxTasks) + " tasks, not " +
                     std::to_string(tasks.size()) + "."};
    for (int i = 0; i < isize(tasks); ++i) {
        TRY(Task task, read_task(tasks[i], file + ", task " + std::to_string(i + 1)));
        out.tasks.push_back(std::move(task));
    }
    TRY_STATUS(check_locks(out, file));
    return out;
}

Result<Lesson> open_lesson(const std::filesystem::path& path) {
    TRY(const auto file, MappedFile::open(path));
    TRY(Lesson lesson, parse_lesson(file->text(), display_path(path)));
    TRY_STATUS(file->check_unchanged());
    return lesson;
}

}  // namespace headlight::lessons
