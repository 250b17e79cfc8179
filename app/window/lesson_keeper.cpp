#include "window/lesson_keeper.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <utility>

#include "panels/lesson/lesson.h"
#include "parts/interventions.h"

namespace headlight {

namespace {

using lessons::TaskKind;

/// Whether a station's own question was answered by a guess.
bool guessed(const Preferences& preferences, const std::string& station) {
    return std::any_of(preferences.guesses.begin(), preferences.guesses.end(), [&](const std::string& guess) {
        return guess.starts_with(station + " ") && !guess.ends_with(" shown");
    });
}

}  // namespace

/// Counts the time in which a task was worked on; a long pause counts as kLongestPause.
void LessonKeeper::count_time() {
    constexpr double kLongestPause = 60;
    const double now = glfwGetTime(), since = counted_until_ > 0 ? now - counted_until_ : 0;
    counted_until_ = now;
    lessons::TaskResult& result = state_.session.of<LessonState>().result();
    if (!result.done) result.seconds += std::min(since, kLongestPause);
}

/// Selects the task's head once its model is open.
void LessonKeeper::place_head() {
    Session& session = state_.session;
    if (session.of<LessonState>().placed || !state_.shown() || session.document.awaits_model()) return;
    choose_task_head(session, state_.sentence()->model->config);
}

/// A station without choices is done once its page was shown, or its own question answered.
void LessonKeeper::note_reading() {
    LessonState& lesson = state_.session.of<LessonState>();
    const lessons::Task& task = lesson.task();
    if (task.kind != TaskKind::station || !task.choices.empty() || !state_.answer) return;
    const auto* page = state_.answer->found<PageRequest>();
    if (!page || page->asked.station != task.station || !page->answer.page) return;
    lesson.answer = guessed(state_.session.preferences, task.station) ? "answered" : "read";
    if (!task.answered) lesson.answer = "read";
}

void LessonKeeper::note_verdict() {
    Session& session = state_.session;
    LessonState& lesson = session.of<LessonState>();
    const auto wanted = judge_request(session);
    const auto* found = state_.answer ? state_.answer->found<lessons::JudgeRequest>() : nullptr;
    if (!found || found->asked != *wanted || session.of<Painting>().begun) return;
    const lessons::Verdict& verdict = found->answer;
    const bool typed = lesson.task().kind == TaskKind::answer;
    if (typed && !verdict.met && lesson.answer.empty()) return;  // each letter would be a try
    if (typed) lesson.answer.clear();
    if (lessons::note_try(lesson.result(), verdict)) lesson.changed = true;
}

void LessonKeeper::update() {
    if (!open_lesson_of(state_.session)) {
        counted_until_ = 0;
        return;
    }
    count_time();
    place_head();
    note_reading();
    note_verdict();
    LessonState& lesson = state_.session.of<LessonState>();
    if (!std::exchange(lesson.changed, false)) return;
    if (state_.remembers()) write_results(lesson);  // a screenshot leaves no trace
    state_.want_frames(1);
}

void LessonKeeper::finish() {
    if (!open_lesson_of(state_.session)) return;
    update();
    if (state_.remembers()) write_results(state_.session.of<LessonState>());
}

}  // namespace headlight
