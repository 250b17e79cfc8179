#include "learn/lessons/check.h"

#include "base/quoted.h"
#include "model/input.h"

namespace headlight::lessons {

namespace {

/// Which sequences the model reads of a lesson's texts.
TextInput typed_input(const Model& model, const std::string& text, const std::string& second) {
    TextInput typed;
    typed.text = text;
    (model.config.stacks.size() > 1 ? typed.target : typed.pair) = second;
    return typed;
}

/// Says what a task needs that the model lacks, or "".
std::string lacking(const Task& task, const Trace& trace) {
    if (task.head.empty()) return "";
    const auto head = parse_head(trace.config(), task.head, "head");
    return head ? "" : head.error().message;
}

}  // namespace

Result<std::shared_ptr<const Trace>> run_lesson(const std::shared_ptr<const Model>& model,
                                                const std::string& text, const std::string& second,
                                                const Intervention& changes, ThreadPool& pool) {
    TRY(ModelInput input, encode_input(*model, typed_input(*model, text, second)));
    if (input.sequences.empty() || input.sequences[0].size() == 0)
        return Error{"The lesson’s sentence has no tokens in " + model->name + "."};
    return run_trace(model, {std::move(input.sequences), changes}, pool);
}

Result<Verdict> judge_words(const Lesson& lesson, const Task& task, const std::vector<std::string>& words,
                            const std::shared_ptr<const Trace>& own, ThreadPool& pool) {
    JudgeRequest request{task, "", lesson.text, lesson.text};
    std::shared_ptr<const Trace> shown = own;
    bool changed = false;
    if (task.kind == TaskKind::metric && !words.empty()) {
        Intervention now;
        for (const std::string& word : words) {
            TRY(Change change, parse_change(own->config(), word));
            now.changes.push_back(std::move(change));
        }
        TRY(shown, run_lesson(own->model, lesson.text, lesson.second, now, pool));
        changed = true;
    } else if (task.kind == TaskKind::answer && !words.empty()) {
        request.text = words[0];
        TRY(shown, run_lesson(own->model, request.text, lesson.second, {}, pool));
    } else if (!words.empty()) {
        request.answer = words[0];
    }
    return judge({*shown, changed ? own.get() : nullptr}, request, pool);
}

Result<CheckedTask> check_task(const Lesson& lesson, const Task& task,
                               const std::shared_ptr<const Trace>& own, ThreadPool& pool) {
    CheckedTask out;
    out.trouble = lacking(task, *own);
    if (!out.trouble.empty()) return out;
    TRY(out.begin, judge_words(lesson, task, {}, own, pool));
    out.trouble = out.begin.refusal;
    if (!out.trouble.empty()) return out;
    // A metric counts once something is masked: its goal may be met before.
    const Trace& trace = *own;
    if (task.kind == TaskKind::metric) {
        const bool there = task.below ? out.begin.value < *task.below : out.begin.value > *task.above;
        if (there)
            out.trouble =
                "its goal is met at the start: " + out.begin.quantity + " is " + out.begin.now.text + ".";
    }
    if (task.kind == TaskKind::answer) {
        TRY(const Verdict same, judge_words(lesson, task, {lesson.text}, own, pool));
        if (same.says.starts_with("The model says")) out.trouble = "the model says its word at the start.";
    }
    if (task.kind == TaskKind::look || task.kind == TaskKind::head || task.kind == TaskKind::layer) {
        // Ask once with an answer, so that a query or statistic that does not exist is found.
        const std::string any =
            task.kind == TaskKind::head ? head_path(trace.config(), AttentionHead{}) : "0";
        TRY(const Verdict tried, judge_words(lesson, task, {any}, own, pool));
        out.trouble = tried.refusal;
    }
    const bool given = !task.solution.empty();
    if (!out.trouble.empty() || (!given && task.kind != TaskKind::station)) return out;
    const std::vector<std::string> right{!task.choices.empty() ? task.right
                                         : task.answered       ? "answered"
                                                               : "read"};
    TRY(out.solved, judge_words(lesson, task, given ? task.solution : right, own, pool));
    if (!out.solved.refusal.empty())
        out.trouble = "its solution cannot be judged: " + out.solved.refusal;
    else if (!out.solved.met)
        out.trouble = "its solution does not solve it: " + out.solved.says;
    return out;
}

}  // namespace headlight::lessons
