// Tests lessons: their files, how tasks are judged, results, and the lessons that come with the program.
#include <map>
#include <set>

#include "base/quoted.h"
#include "helpers.h"
#include "learn/lessons/check.h"
#include "learn/lessons/results.h"

using namespace headlight;
using namespace headlight::lessons;

namespace {

constexpr const char* kLilySentence = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red";

Json lesson_json(const Json& task) {
    return {{"format", "headlight-lesson"}, {"version", 1},          {"title", "Masks"},
            {"model", "stories"},           {"text", kLilySentence}, {"tasks", Json::array({task})}};
}

Json metric_task() {
    return {{"kind", "metric"},
            {"title", "Bring it down"},
            {"text", "Mask cells."},
            {"below", 0.1},
            {"metric", "p(ball)"}};
}

Result<Lesson> parsed_lesson(const Json& root) { return parse_lesson(root.dump(), "x.json"); }

/// Why a lesson is refused; "" if it is not.
std::string lesson_refusal(const Json& root) {
    const auto lesson = parsed_lesson(root);
    return lesson ? "" : lesson.error().message;
}

std::string lesson_refusal(const std::string& key, const Json& value) {
    Json task = metric_task();
    task[key] = value;
    return lesson_refusal(lesson_json(task));
}

/// The lesson's sentence in its model, which all tests share.
struct LessonBench {
    ThreadPool pool{2};
    std::shared_ptr<const Model> model = *Model::open(kTests.parent_path() / "models/stories");

    std::shared_ptr<const Trace> run(const std::string& text) {
        return *run_lesson(model, text, "", {}, pool);
    }
    Verdict judged(const Json& task, const std::vector<std::string>& words) {
        const Lesson lesson = *parsed_lesson(lesson_json(task));
        return *judge_words(lesson, lesson.tasks[0], words, run(lesson.text), pool);
    }
};

LessonBench& lesson_bench() {
    static LessonBench one;
    return one;
}

bool lesson_says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("lesson: a file reads as it says, with the defaults it leaves out") {
    Json task = metric_task();
    task["at_most"] = 3;
    task["hints"] = {"Look at the last row."};
    Json root = lesson_json(task);
    root["locked"] = {{"model", true}, {"views", {"delta"}}};
    const Lesson lesson = *parsed_lesson(root);
    CHECK(lesson.title == "Masks");
    CHECK(lesson.ordered);
    CHECK((lesson.locks.model && !lesson.locks.sentence && !lesson.locks.interventions));
    CHECK(lesson.locks.views == std::vector<std::string>{"delta"});
    const Task& t = lesson.tasks.at(0);
    CHECK((t.kind == TaskKind::metric && t.by == Means::mask && t.at_most == 3));
    CHECK((t.below == 0.1 && !t.above));
    CHECK(t.hints.size() == 1);
}

TEST_CASE("lesson: each mistake in a file is one sentence that names the file and what helps") {
    CHECK(lesson_says(lesson_refusal(Json::array()), "is not a lesson"));
    CHECK(lesson_says(lesson_refusal(Json{{"format", "headlight-figure"}}), "is not a lesson"));
    Json newer = lesson_json(metric_task());
    newer["version"] = 99;
    CHECK(lesson_says(lesson_refusal(newer), "newer"));
    Json unknown = lesson_json(metric_task());
    unknown["tittle"] = "x";
    CHECK(
        lesson_says(lesson_refusal(unknown), "x.json: the key \"tittle\" is unknown; a lesson has “format”"));
    CHECK(lesson_says(lesson_refusal("belwo", 0.2), "x.json, task 1: the key \"belwo\" is unknown"));
    CHECK(
        lesson_says(lesson_refusal("statistic", "previous"), "is unknown; a task of the kind “metric” has"));
    CHECK(lesson_says(lesson_refusal("kind", "guess"),
                      "it takes metric, head, look, answer, layer or station"));
    CHECK(lesson_says(lesson_refusal("above", 0.2), "either “below” or “above”"));
    CHECK(lesson_says(lesson_refusal("by", "magic"), "it takes mask, ablate or either"));
    CHECK(lesson_says(lesson_refusal("at_most", -1), "outside 0"));
    CHECK(lesson_says(lesson_refusal("title", ""), "\"title\" is missing"));
    CHECK(lesson_says(lesson_refusal("text", std::string(5000, 'x')), "at most 2000 are read"));
    CHECK(lesson_says(lesson_refusal("hints", 3), "must be a list"));
    CHECK(lesson_says(lesson_refusal("hints", {1}), "must hold strings only"));
    Json none = lesson_json(metric_task());
    none["tasks"] = Json::array();
    CHECK(lesson_says(lesson_refusal(none), "must list 1"));
    Json locked = lesson_json(metric_task());
    locked["locked"] = {{"interventions", true}};
    CHECK(lesson_says(lesson_refusal(locked), "needs interventions, which the lesson locks"));
    locked["locked"] = {{"modle", true}};
    CHECK(lesson_says(lesson_refusal(locked), "x.json, locked: the key \"modle\" is unknown"));
    const Json head = {{"kind", "head"}, {"title", "t"}, {"text", "t"}, {"statistic", "magic"}};
    CHECK(lesson_says(lesson_refusal(lesson_json(head)), "write entropy, previous"));
    const Json station = {{"kind", "station"},  {"title", "t"}, {"text", "t"},
                          {"station", "masks"}, {"right", "c"}, {"choices", {"a", "b"}}};
    CHECK(lesson_says(lesson_refusal(lesson_json(station)), "“right” must be one of “choices”"));
    Json both = station;
    both["answered"] = true;
    CHECK(lesson_says(lesson_refusal(lesson_json(both)), "either “answered” or “choices”"));
}

TEST_CASE("lesson: cells are counted where the mask leaves them open, each once") {
    const auto count = [](const std::vector<std::string>& changes) {
        return lesson_bench().judged(metric_task(), changes).count;
    };
    CHECK(count({"mask:16>4"}) == 1);
    CHECK(count({"mask:16>4", "mask:16>4"}) == 1);
    CHECK(count({"mask:16>4@1.2", "mask:16>4@1.1"}) == 2);
    CHECK(count({"mask:16>*"}) == 17);
    CHECK(count({"mask:3>*"}) == 4);  // later words are hidden already
    CHECK(count({"mask:15..>4"}) == 2);
}

TEST_CASE("lesson: the numbers of a metric task are the metric's, and its words are made of them") {
    const Verdict begin = lesson_bench().judged(metric_task(), {});
    CHECK((!begin.tried && !begin.met && begin.says == "No try yet."));
    CHECK(begin.quantity == "p of “ball”");
    CHECK(begin.now.text == begin.before.text);
    const Verdict one = lesson_bench().judged(metric_task(), {"mask:16>4"});
    CHECK((one.tried && !one.met && one.used == "red 16 → ball 4"));
    CHECK(one.says == "Not yet. One cell takes " + decimals(100 * (begin.value - one.value), 1) + " points.");
    CHECK(one.further == decimals(100 * (one.value - 0.1), 1) + " points to go.");
    CHECK(one.goal.place == doctest::Approx(0.1));
    CHECK(one.goal.text == "10 %");
    const Verdict both = lesson_bench().judged(metric_task(), {"mask:16>4", "mask:16>10"});
    CHECK((both.met && both.count == 2 && both.value < 0.1));
    CHECK(both.says.starts_with("Done. Two cells take "));
    CHECK(both.further.empty());
}

TEST_CASE("lesson: what a task does not count is not judged") {
    const Verdict heads = lesson_bench().judged(metric_task(), {"ablate:0.0"});
    CHECK((!heads.met && lesson_says(heads.says, "does not count here")));
    Json few = metric_task();
    few["at_most"] = 1;
    const Verdict many = lesson_bench().judged(few, {"mask:16>4", "mask:16>10"});
    CHECK((!many.met && lesson_says(many.further, "At most 1 count here, and 2 are in use.")));
    Json ablate = metric_task();
    ablate["by"] = "ablate";
    CHECK(lesson_bench().judged(ablate, {"ablate:0.0"}).count == 1);
    CHECK(lesson_bench().judged(ablate, {"ablate:0.0", "ablate:0.0:mean"}).count == 1);
    Json above = metric_task();
    above.erase("below");
    above["above"] = 0.999;
    CHECK(lesson_says(lesson_bench().judged(above, {"mask:16>4"}).says, "the other way"));
}

TEST_CASE("lesson: what has no answer yet, and what does not exist, is said") {
    const Json head = {
        {"kind", "head"}, {"title", "t"}, {"text", "t"}, {"statistic", "previous"}, {"at_least", 0.9}};
    CHECK(!lesson_bench().judged(head, {}).tried);
    CHECK(lesson_says(lesson_bench().judged(head, {"9.9"}).refusal, "9.9"));
    const Json look = {{"kind", "look"}, {"title", "t"}, {"text", "t"}, {"head", "1.1"}, {"query", 99}};
    CHECK(lesson_says(lesson_bench().judged(look, {"4"}).refusal, "the query 99"));
    const Json layer = {{"kind", "layer"}, {"title", "t"}, {"text", "t"}, {"word", "ball"}};
    CHECK(lesson_says(lesson_bench().judged(layer, {"12"}).refusal, "layers 0 … 3"));
    const Json unheard = {{"kind", "layer"}, {"title", "t"}, {"text", "t"}, {"word", "cow"}};
    CHECK(lesson_says(lesson_bench().judged(unheard, {}).refusal, "No layer says “cow”"));
    const Json answer = {{"kind", "answer"}, {"title", "t"}, {"text", "t"}, {"word", "kite"}};
    const Verdict same = lesson_bench().judged(answer, {kLilySentence});
    CHECK((!same.tried && !same.met && lesson_says(same.says, "The model says “ball”")));
    const Verdict other =
        lesson_bench().judged(answer, {"Lily had a red kite. Tom had a blue ball. Lily gave Tom the red"});
    CHECK((other.met && other.used == "ball → kite" && other.count == 1));
}

TEST_CASE("lesson: a station is read by its page, and its question by a guess") {
    Json task = {{"kind", "station"}, {"title", "t"}, {"text", "t"}, {"station", "masks"}};
    CHECK(!lesson_bench().judged(task, {}).tried);
    CHECK(lesson_bench().judged(task, {"read"}).met);
    task["answered"] = true;
    CHECK(!lesson_bench().judged(task, {"read"}).met);
    CHECK(lesson_bench().judged(task, {"answered"}).met);
}

TEST_CASE("lesson: changed words are those to change, add or drop") {
    CHECK(changed_words("a b c", "a b c") == 0);
    CHECK(changed_words("a b c", "a x c") == 1);
    CHECK(changed_words("a b c", "a c") == 1);
    CHECK(changed_words("a b c", "a b c d e") == 2);
    CHECK(changed_words("", "a b") == 2);
    CHECK(changed_words("a b c", "c b a") == 2);
}

TEST_CASE("lesson: every task of the built-in lessons is solved by its solution, and not by a wrong try") {
    REQUIRE(built_in_lessons().size() >= 3);
    for (const BuiltInLesson& one : built_in_lessons()) {
        const Lesson& lesson = one.lesson;
        CHECK(lesson.model == "stories");
        const auto own = lesson_bench().run(lesson.text);
        for (const Task& task : lesson.tasks) {
            CAPTURE(one.name);
            CAPTURE(task.title);
            const CheckedTask checked = *check_task(lesson, task, own, lesson_bench().pool);
            CHECK(checked.trouble == "");
            CHECK(checked.solved.met);
            CHECK(!task.hints.empty());
            const std::map<TaskKind, std::string> wrong = {
                {TaskKind::metric, task.by == Means::mask ? "mask:16>1" : "ablate:3.0"},
                {TaskKind::head, "3.0"},
                {TaskKind::look, "0"},
                {TaskKind::answer, lesson.text + " and"},
                {TaskKind::layer, "0"},
                {TaskKind::station, "Itself"}};
            const Verdict refused =
                *judge_words(lesson, task, {wrong.at(task.kind)}, own, lesson_bench().pool);
            CHECK((refused.tried && !refused.met && refused.refusal.empty()));
        }
    }
}

TEST_CASE("lesson: the example to start from has every kind of task, and each is solved by its solution") {
    const Lesson lesson = *parse_lesson(example_lesson_text(), "example.json");
    const auto own = lesson_bench().run(lesson.text);
    std::set<TaskKind> kinds;
    for (const Task& task : lesson.tasks) {
        kinds.insert(task.kind);
        CAPTURE(task.title);
        const CheckedTask checked = *check_task(lesson, task, own, lesson_bench().pool);
        CHECK((checked.trouble == "" && checked.solved.met));
    }
    CHECK(kinds.size() == task_kinds().size());
}

TEST_CASE("lesson: the example in the documents is the one that a teacher starts from") {
    const std::string page = read_bytes(kTests.parent_path() / "docs/teaching.md");
    const std::string open = "```json\n";
    const size_t from = page.find(open) + open.size();
    CHECK(page.substr(from, page.find("```", from) - from) == example_lesson_text());
}

TEST_CASE("lesson: the check says why a task cannot be judged") {
    const auto trouble = [](const Json& task) {
        const Lesson lesson = *parsed_lesson(lesson_json(task));
        return check_task(lesson, lesson.tasks[0], lesson_bench().run(lesson.text), lesson_bench().pool)
            ->trouble;
    };
    Json task = metric_task();
    CHECK(trouble(task) == "");
    task["below"] = 1.0;
    CHECK(lesson_says(trouble(task), "met at the start"));
    task = metric_task();
    task["metric"] = "p(zzzzqqqq)";
    CHECK(trouble(task) != "");
    task = metric_task();
    task["head"] = "7.7";
    CHECK(lesson_says(trouble(task), "7.7"));
    task = metric_task();
    task["solution"] = {"mask:16>4"};
    CHECK(lesson_says(trouble(task), "does not solve it"));
    CHECK(lesson_says(trouble({{"kind", "answer"}, {"title", "t"}, {"text", "t"}, {"word", "ball"}}),
                      "at the start"));
}

TEST_CASE("results: tries, hints and times read back; tasks that changed begin anew") {
    const Lesson lesson = built_in_lessons()[0].lesson;
    Results r = no_results(lesson);
    CHECK((is_open(lesson, r, 0) && !is_open(lesson, r, 1)));
    Verdict v;
    v.tried = true;
    v.used = "the 15";
    v.now = {"1.0 %", 0.01f};
    CHECK(note_try(r.tasks[0], v));
    CHECK(!note_try(r.tasks[0], v));  // the same again is no try
    v.used = "ball 4";
    v.met = true;
    CHECK(note_try(r.tasks[0], v));
    CHECK((r.tasks[0].done && r.tasks[0].tries == 2 && r.done() == 1));
    CHECK((is_open(lesson, r, 1) && !is_open(lesson, r, 2)));
    r.tasks[1].hints = 2;
    r.tasks[1].seconds = 31;
    r.current = 1;
    r.who = "Kim";
    r.began = r.continued = "2026-11-26T10:00:00Z";
    CHECK(*parse_results(results_text(r), "r.json", lesson) == r);
    Lesson changed = lesson;
    changed.tasks[0].head = "1.2";
    const Results after = *parse_results(results_text(r), "r.json", changed);
    CHECK((!after.tasks[0].done && after.tasks[1].hints == 2 && after.current == 0));
}

TEST_CASE("lesson: a file with bytes changed is read or refused, and what is read is written the same") {
    const std::string text(built_in_lesson_text("how-a-model-copies-a-word"));
    const Lesson& known = built_in_lessons()[0].lesson;
    const std::string written = results_text(no_results(known));
    std::mt19937 random(7);
    int read = 0;
    for (int i = 0; i < 2000; ++i) {
        std::string lesson = text, results = written;
        for (std::string* file : {&lesson, &results})
            for (unsigned changed = 1 + random() % 3; changed > 0; --changed)
                (*file)[random() % file->size()] = "0123456789{}[]\",:-etx "[random() % 23];
        if (const auto parsed = parse_lesson(lesson, "x.json")) {
            ++read;
            const Results none = no_results(*parsed);
            CHECK(*parse_results(results_text(none), "r.json", *parsed) == none);
        }
        if (const auto parsed = parse_results(results, "r.json", known))
            CHECK(parsed->tasks.size() == known.tasks.size());
    }
    CHECK((read > 0 && read < 2000));
}

TEST_CASE("results: the fewest cells count, and a bad file is refused") {
    const Lesson lesson = built_in_lessons()[0].lesson;
    TaskResult task;
    CHECK(task.best() == nullptr);
    task.attempts = {{"a", "", 0, 5, true}, {"b", "", 0, 2, true}, {"c", "", 0, 1, false}};
    CHECK(task.best()->what == "b");
    CHECK(!parse_results("[]", "r.json", lesson));
    CHECK(!parse_results("{", "r.json", lesson));
    CHECK(lesson_says(parse_results("{}", "r.json", lesson).error().message, "r.json does not hold results"));
    CHECK(results_path("/x/copies.headlight-lesson.json") == "/x/copies.results.json");
    CHECK(results_path("/x/copies.json") == "/x/copies.results.json");
    TemporaryFolder folder;
    const auto path = folder.path / "copies.results.json";
    REQUIRE(save_results(path, no_results(lesson)));
    CHECK(open_results(path, lesson)->tasks.size() == lesson.tasks.size());
}
