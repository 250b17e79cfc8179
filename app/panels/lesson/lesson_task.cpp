// Draws the right panel of a lesson: the open task, the program's verdict, tries, hints.
#include <algorithm>

#include "base/cast.h"
#include "paint/chip.h"
#include "paint/layout.h"
#include "panels/lesson/lesson.h"
#include "parts/controls.h"
#include "parts/interventions.h"

namespace headlight {

namespace {

using lessons::TaskKind;
using lessons::Verdict;

struct LessonTaskState {
    float scroll = 0;
    std::string of;  // the task that was drawn; another one starts at its top
};

/// Draws parts below each other in a column, each in its own height.
struct Pen {
    Scene& s;
    Ui& ui;
    float x, y, w;

    Rect line(float high) {
        Rect whole{x, y, w, 1e6f};
        const Rect out = take_top(whole, high);
        y += high;
        return out;
    }
    void skip(float points) { y += points; }
    void wrapped(Font font, ImU32 ink, const std::string& text) {
        y += ui.text.draw_wrapped(x, y, w, font, ink, text);
    }
    void rule() {
        y += gap::medium;
        ui.hairline(x, y, x + w, y);
        y += gap::medium;
    }
    void heading(const std::string& text, const std::string& right = "") {
        const Rect r = line(size::line);
        write(ui, r, kCaption, ui.colors->t3, right, Flush::right);
        caption(ui, r, text);
        y += gap::tight;
    }
};

ImU32 track_color(const Ui& ui) { return ui.colors->dark ? ui.colors->bg2 : ui.colors->bg3; }

/// Draws the bar from 0 to the number now, with a tick where it was and a line at the goal.
void draw_goal_bar(Pen& pen, const Verdict& v) {
    constexpr float kBar = 12, kOver = 10, kWas = 6;
    Ui& ui = pen.ui;
    pen.skip(kOver);
    const Rect bar = pen.line(kBar);
    ui.name("lesson/bar", bar);
    ui.fill(bar, track_color(ui));
    if (!v.now.text.empty())
        ui.fill({bar.x, bar.y, std::max(1.0f, bar.w * std::clamp(v.now.place, 0.0f, 1.0f)), bar.h},
                ui.colors->accent);
    const auto x_of = [&](float place) { return bar.x + bar.w * std::clamp(place, 0.0f, 1.0f); };
    if (!v.before.text.empty())
        ui.fill({x_of(v.before.place) - 1, bar.y - kWas, 1, bar.h + 2 * kWas}, ui.colors->t3);
    pen.skip(kOver);
    if (v.goal.text.empty()) return;
    const float goal = x_of(v.goal.place);
    ui.fill({std::min(goal, bar.right() - 2), bar.y - kOver, 2, bar.h + 2 * kOver}, ui.colors->t1);
    const std::string text = "goal: " + v.goal.text;
    const float wide = ui.text.width(kCaption, text);
    write(ui, {std::clamp(goal, bar.x, std::max(bar.x, bar.right() - wide)), pen.y + 2, wide, size::line},
          kCaption, ui.colors->t1, text);
    pen.skip(size::line + 2);
}

/// Draws the number now and where it was.
void draw_number(Pen& pen, const Verdict& v, TaskKind kind) {
    Ui& ui = pen.ui;
    const bool shown = !v.now.text.empty();
    if (!shown && v.goal.text.empty()) return;
    caption(ui, pen.line(size::line),
            v.quantity + (kind == TaskKind::metric || kind == TaskKind::answer ? " now" : ""));
    Rect line = pen.line(32);
    ui.name("lesson/now", line);
    if (!v.before.text.empty()) {
        const std::string was = v.before.text + " before";
        write(ui, take_right(line, ui.text.width(kCaptionMono, was)), kCaptionMono, ui.colors->t3, was);
    }
    write(ui, line, kTitleMono, shown ? ui.colors->accent_text : ui.colors->t3, shown ? v.now.text : "—");
    draw_goal_bar(pen, v);
    pen.skip(gap::small);
}

void draw_verdict(Pen& pen, const Verdict& v) {
    Ui& ui = pen.ui;
    const float top = pen.y;
    const std::string& says = v.refusal.empty() ? v.says : v.refusal;
    pen.wrapped(kBody, v.met ? ui.colors->accent_text : ui.colors->t1, says);
    if (!v.further.empty()) {
        pen.skip(2);
        pen.wrapped(kBody, ui.colors->t2, v.further);
    }
    ui.name("lesson/verdict", {pen.x, top, pen.w, pen.y - top});
}

/// Draws the interventions as chips, each with a cross that takes it back.
void draw_used(Pen& pen, const Verdict* v) {
    constexpr float kCross = 26;
    constexpr size_t kMaxChips = 6;
    Scene& s = pen.s;
    Ui& ui = pen.ui;
    const auto& changes = s.session.document.intervention.changes;
    if (changes.empty() || !s.sentence()) return;
    pen.rule();
    const bool heads = s.session.of<LessonState>().task().by == lessons::Means::ablate;
    const std::string unit = heads ? " head" : " cell";
    pen.heading(heads ? "Ablated" : "Masked",
                v ? std::to_string(v->count) + unit + (v->count == 1 ? "" : "s") : "");
    for (size_t i = 0; i < std::min(changes.size(), kMaxChips); ++i) {
        std::string label = change_text(s, changes[i]);
        if (changes[i].kind == ChangeKind::mask && label.starts_with("mask ")) label = label.substr(5);
        Rect line = pen.line(size::chip);
        Rect chip{line.x, line.y,
                  std::min(line.w, ui.text.width(kCaptionMono, label) + 2 * size::chip_pad + kCross), line.h};
        const std::string path = "lesson/used/" + std::to_string(i);
        const Hit h = ui.control(path, chip);
        ui.fill(chip, ui.colors->accent_fill, size::corner);
        ui.frame(chip, ui.colors->accent, 1, size::corner);
        ui.cross(take_right(chip, kCross).middle(), 3.5f, h.hovered ? ui.colors->t1 : ui.colors->accent_text);
        take_left(chip, size::chip_pad);
        write(ui, chip, kCaptionMono, ui.colors->accent_text, label);
        if (h.clicked) s.change(changes[i]);
        pen.skip(gap::tight);
    }
    if (changes.size() > kMaxChips)
        caption(ui, pen.line(size::line), "and " + std::to_string(changes.size() - kMaxChips) + " more");
}

/// Draws the last tries, the newest at the bottom.
void draw_tries(Pen& pen, const lessons::TaskResult& result, const std::string& quantity) {
    constexpr int kShown = 5;
    constexpr float kNumber = 28, kValue = 76;
    Ui& ui = pen.ui;
    const int count = isize(result.attempts);
    if (count == 0) return;
    pen.rule();
    pen.heading("Your tries", result.attempts.back().value.empty() ? "" : quantity);
    for (int i = std::max(0, count - kShown); i < count; ++i) {
        const lessons::Attempt& one = result.attempts[i];
        const bool last = i + 1 == count;
        Rect line = pen.line(24);
        ui.name("lesson/try/" + std::to_string(result.tries - count + i + 1), line);
        write(ui, take_left(line, kNumber), kCaptionMono, ui.colors->t3,
              std::to_string(result.tries - count + i + 1));
        Rect track{line.x, line.bottom() - 2, line.w, 4};
        if (!one.value.empty())
            write(ui, take_right(line, kValue), kBodyMono, last ? ui.colors->accent_text : ui.colors->t2,
                  one.value, Flush::right);
        const std::string what = one.what + (one.met ? " ✓" : "");
        write(ui, line, kCaptionMono, last ? ui.colors->t1 : ui.colors->t2, what);
        if (one.value.empty()) continue;
        ui.bar(track, one.place, last ? ui.colors->accent : ui.colors->t3);
        pen.skip(gap::small);
    }
}

void draw_hints(Pen& pen, const lessons::Task& task, const lessons::TaskResult& result) {
    if (task.hints.empty()) return;
    Ui& ui = pen.ui;
    const int all = isize(task.hints), shown = std::min(result.hints, all);
    pen.rule();
    pen.heading("Hints", std::to_string(shown) + " of " + std::to_string(all) + " shown");
    for (int i = 0; i < shown; ++i) {
        const float high =
            ui.text.wrapped_height(pen.w - 2 * gap::large, kCaption, task.hints[i]) + 2 * gap::medium;
        const Rect card = pen.line(high);
        ui.name("lesson/hint/" + std::to_string(i + 1), card);
        ui.fill(card, ui.colors->bg3, size::popup_corner);
        ui.text.draw_wrapped(card.x + gap::large, card.y + gap::medium, card.w - 2 * gap::large, kCaption,
                             ui.colors->t1, task.hints[i]);
        pen.skip(gap::small);
    }
    if (shown < all &&
        ui.button("lesson/hint", pen.line(size::button), shown == 0 ? "Show a hint" : "Next hint"))
        pen.s.send("lesson hint");
}

void draw_teacher(Pen& pen, const std::string& words) {
    if (words.empty()) return;
    pen.rule();
    pen.heading("Words from the teacher");
    pen.wrapped(kBody, pen.ui.colors->t1, words);
}

void draw_way_out(Scene& s, Rect line) {
    const std::string leave = "Leave the lesson";
    const float right = line.x + s.ui.text.width(kBody, leave);
    if (s.ui.link("lesson/leave", right, line.middle_y(), leave)) s.send("lesson leave");
}

/// Draws Start over, Next task, and where the results are; returns its top.
float draw_task_foot(Scene& s, Rect area, const LessonState& lesson, bool alone) {
    Ui& ui = s.ui;
    Rect column = inset(area, size::inspector_pad, 0);
    column.h -= gap::small;
    if (alone) draw_way_out(s, take_bottom(column, size::row_low, gap::tight));
    const Rect nothing = take_bottom(column, 18), saved = take_bottom(column, 18);
    caption(ui, nothing, "Nothing leaves this computer.");
    const std::string file = lesson.saved_in.filename().string();
    caption(ui, saved,
            file.empty() ? lesson.saving : first_that_fits(ui, kCaption, {lesson.saving, file}, saved.w));
    ui.tooltip("lesson/saved", ui.hit("lesson/saved", saved),
               lesson.saved_in.empty() ? lesson.saving : lesson.saved_in.string());
    Rect row = take_bottom(column, size::button, gap::small);
    const Rect over = take_left(row, (row.w - gap::small) / 2, gap::small);
    if (ui.button("lesson/over", over, "Start over")) s.send("lesson start over");
    const bool last = lesson.results.current + 1 >= lesson.tasks(),
               all = lesson.results.done() == lesson.tasks();
    const bool next = !last && lessons::is_open(*lesson.lesson, lesson.results, lesson.results.current + 1);
    if (last) {
        write(ui, row, kBody, all ? ui.colors->accent_text : ui.colors->t3, all ? "Lesson done" : "Last task",
              Flush::center);
    } else if (ui.button("lesson/next", row, "Next task",
                         !next                  ? Ui::Look::off
                         : lesson.result().done ? Ui::Look::primary
                                                : Ui::Look::normal)) {
        s.send("lesson next");
    }
    ui.hairline(column.x, row.y - gap::medium, column.right(), row.y - gap::medium);
    return row.y - gap::medium;
}

void draw_task_title(Scene& s, Rect area, const LessonState& lesson) {
    Ui& ui = s.ui;
    Rect line = take_top(area, size::view_header);
    ui.hairline(line.x, line.bottom(), line.right(), line.bottom());
    line = inset(line, size::inspector_pad, 0);
    const std::string judged = lesson.result().done ? "done" : "judged by the program";
    const float wide = ui.text.width(kCaption, judged);
    write(ui, take_right(line, wide), kCaption, lesson.result().done ? ui.colors->accent_text : ui.colors->t3,
          judged);
    write(ui, line, kTitle, ui.colors->t1, "Task " + std::to_string(lesson.results.current + 1));
}

/// Draws a button for each task, which stands for its row in the list; returns the bottom.
float draw_task_numbers(Scene& s, Rect area, const LessonState& lesson) {
    constexpr float kHigh = 26, kLeast = 22;
    Ui& ui = s.ui;
    const int count = lesson.tasks(),
              across = std::clamp(int(area.w / (kLeast + gap::tight)), 1, std::max(1, count));
    for (int i = 0; i < count; ++i) {
        const Rect line{area.x, area.y + (kHigh + gap::tight) * float(i / across), area.w, kHigh},
            r = nth_column(line, i % across, across, gap::tight);
        const bool shown = i == lesson.results.current, done = lesson.results.tasks[i].done,
                   open = lessons::is_open(*lesson.lesson, lesson.results, i);
        const std::string path = "lesson/task/" + std::to_string(i + 1);
        const Hit h = ui.control(path, r);
        ui.fill(r,
                shown               ? ui.colors->accent_fill
                : h.hovered && open ? ui.colors->bg3
                                    : ui.colors->bg2,
                size::corner);
        ui.frame(r, shown ? ui.colors->accent : open ? ui.colors->l2 : ui.colors->l1, 1, size::corner);
        write(ui, r, kCaptionMono,
              shown  ? ui.colors->accent_text
              : open ? ui.colors->t1
                     : ui.colors->t3,
              std::to_string(i + 1), Flush::center);
        if (done) ui.fill({r.x + 4, r.bottom() - 2, r.w - 8, 2}, ui.colors->accent);
        ui.tooltip(path, h,
                   open ? lesson.lesson->tasks[i].title : "This task opens once the one before it is done.");
        if (h.clicked && open) s.send("lesson task", std::to_string(i + 1));
    }
    return area.y + (kHigh + gap::tight) * float((count + across - 1) / across) + gap::small;
}

}  // namespace

const Verdict* shown_verdict(const Scene& s) {
    const auto wanted = judge_request(s.session);
    const auto* found = s.found<lessons::JudgeRequest>();
    return wanted && found && found->asked.task == wanted->task && found->asked.answer == wanted->answer
               ? &found->answer
               : nullptr;
}

void draw_lesson_task(Scene& s, Rect area, bool alone) {
    constexpr float kSide = 6;
    Ui& ui = s.ui;
    const LessonState& lesson = *open_lesson_of(s.session);
    LessonTaskState& state = s.of<LessonTaskState>();
    const lessons::Task& task = lesson.task();
    if (std::exchange(state.of, lesson.name + task.title) != lesson.name + task.title) state.scroll = 0;
    draw_task_title(s, area, lesson);
    const float foot = draw_task_foot(s, area, lesson, alone), top = area.y + size::view_header + 1;
    const Rect seen{area.x + kSide, top, area.w - 2 * kSide, foot - top};
    ui.scroll_area(seen);
    Pen pen{s, ui, area.x + size::inspector_pad, top + gap::large - state.scroll,
            area.w - 2 * size::inspector_pad};
    const float begin = pen.y;
    if (alone) pen.y = draw_task_numbers(s, {pen.x, pen.y, pen.w, 0}, lesson);
    pen.wrapped(kBody, ui.colors->t1, task.text);
    pen.rule();
    const Verdict* v = shown_verdict(s);
    const bool moves = task.kind == TaskKind::metric || task.kind == TaskKind::answer;
    if (v && (moves || v->tried)) draw_number(pen, *v, task.kind);
    if (v) draw_verdict(pen, *v);
    if (task.kind != TaskKind::metric) {
        pen.skip(gap::medium);
        pen.y = draw_lesson_answers(s, pen.x, pen.y, pen.w);
    }
    draw_used(pen, v);
    draw_tries(pen, lesson.result(), v ? v->quantity : "");
    draw_hints(pen, task, lesson.result());
    if (alone) draw_teacher(pen, lesson.lesson->words);
    ui.end_scroll_area();
    state.scroll = scrolled(ui, seen, pen.y + gap::large - begin + gap::large, state.scroll);
}

}  // namespace headlight
