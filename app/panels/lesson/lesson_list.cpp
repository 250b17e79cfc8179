// Draws the left panel of a lesson: its tasks, the teacher's words, what is locked, the way out.
#include <algorithm>
#include <array>

#include "base/cast.h"
#include "base/listed.h"
#include "paint/layout.h"
#include "panels/lesson/lesson.h"
#include "parts/controls.h"
#include "parts/lock_sign.h"
#include "views/views.h"

namespace headlight {

namespace {

using lessons::TaskKind;

constexpr float kTaskHigh = 60, kTaskStep = 68, kTaskHighLow = 50, kTaskStepLow = 54, kSignRoom = 32;

struct LessonListState {
    float scroll = 0;
    int followed = -1;  // the task that was last scrolled into view
};

std::string counted_tries(int tries) { return std::to_string(tries) + (tries == 1 ? " try" : " tries"); }

/// Says in two or three words what a task asks for.
std::string way_of(const lessons::Task& task) {
    switch (task.kind) {
        case TaskKind::metric:
            return task.by == lessons::Means::mask     ? "mask cells"
                   : task.by == lessons::Means::ablate ? "ablate heads"
                                                       : "mask cells or ablate heads";
        case TaskKind::head:
            return "find a head";
        case TaskKind::look:
            return "guess a word";
        case TaskKind::answer:
            return task.changes == 1 ? "change one word" : "change the sentence";
        case TaskKind::layer:
            return "find a layer";
        case TaskKind::station:
            return task.choices.empty() ? "read a station" : "answer a question";
    }
    return "";
}

/// The second line of a task: how it was done, how often it was tried, or what it asks for.
std::string state_of(const lessons::Task& task, const lessons::TaskResult& result) {
    const lessons::Attempt* best = result.best();
    if (result.done && best && task.kind == TaskKind::head)
        return best->what + " · " + counted_tries(result.tries);
    if (result.done && best && best->count > 0 && task.kind == TaskKind::metric)
        return std::to_string(best->count) + (task.by == lessons::Means::ablate ? " head" : " cell") +
               (best->count == 1 ? "" : "s") + " · " + counted_tries(result.tries);
    if (result.done) return counted_tries(result.tries);
    if (result.tries > 0) return counted_tries(result.tries) + " so far";
    return way_of(task);
}

void draw_sign(Ui& ui, ImVec2 at, int number, bool done, bool open, bool shown) {
    constexpr float kRadius = 10;
    if (done) {
        ui.polyline(
            std::array<ImVec2, 3>{{{at.x - 5, at.y}, {at.x - 1.5f, at.y + 3.5f}, {at.x + 5, at.y - 3.5f}}},
            ui.colors->accent, 1.75f);
        return;
    }
    if (!open) return draw_padlock(ui, at, ui.colors->t3);
    if (shown)
        ui.disc(at, kRadius, ui.colors->accent);
    else
        ui.ring(at, kRadius, ui.colors->l2, 1.5f);
    write(ui, square_at(at, 2 * kRadius), kCaptionMono, shown ? ui.colors->on_accent : ui.colors->t2,
          std::to_string(number), Flush::center);
}

void draw_task_row(Scene& s, Rect r, int number, const LessonState& lesson) {
    Ui& ui = s.ui;
    const bool shown = number == lesson.results.current,
               open = lessons::is_open(*lesson.lesson, lesson.results, number);
    const lessons::Task& task = lesson.lesson->tasks[number];
    const lessons::TaskResult& result = lesson.results.tasks[number];
    const std::string path = "lesson/task/" + std::to_string(number + 1);
    const Hit h = ui.control(path, r);
    if (shown || (h.hovered && open))
        ui.fill(r, shown ? ui.colors->accent_fill : ui.colors->bg3, size::corner);
    Rect inside = inset(r, gap::small, gap::close);
    const Rect sign = take_left(inside, kSignRoom);
    draw_sign(ui, {sign.x + 11, sign.y + 11}, number + 1, result.done, open, shown);
    const ImU32 ink = shown                  ? ui.colors->accent_text
                      : open && !result.done ? ui.colors->t1
                      : result.done          ? ui.colors->t2
                                             : ui.colors->t3;
    const Rect title = take_top(inside, 22, 2);
    write(ui, title, kBody, ink, task.title);
    write(ui, take_top(inside, 20), kCaption, shown ? ui.colors->t1 : ui.colors->t3, state_of(task, result));
    if (!open)
        ui.tooltip(path, h, "This task opens once the one before it is done.");
    else if (ui.text.width(kBody, task.title) > title.w)
        ui.tooltip(path, h, task.title);
    if (h.clicked && open) s.send("lesson task", std::to_string(number + 1));
}

/// Draws title, author, and one segment a task.
float draw_head(Scene& s, Rect column, float y, const LessonState& lesson) {
    Ui& ui = s.ui;
    const lessons::Lesson& of = *lesson.lesson;
    y += ui.text.draw_wrapped(column.x, y, column.w, kBody, ui.colors->t1, of.title) + gap::tight;
    std::string by = of.author.empty() ? "" : "by " + of.author;
    if (of.minutes > 0) by += (by.empty() ? "" : " · ") + std::to_string(of.minutes) + " minutes";
    if (!by.empty()) {
        caption(ui, {column.x, y, column.w, size::line}, by);
        y += size::line + gap::small;
    }
    const int count = lesson.tasks();
    const float apart = count > 12 ? 2 : gap::tight;
    for (int i = 0; i < count; ++i)
        ui.fill(nth_column({column.x, y, column.w, 8}, i, count, apart),
                lesson.results.tasks[i].done ? ui.colors->accent : ui.colors->bg4);
    return y + 8 + gap::medium;
}

/// "Model, sentence and three views are locked for this lesson."
std::string locks_text(const lessons::Locks& locks) {
    std::vector<std::string> all;
    if (locks.model) all.emplace_back("model");
    if (locks.sentence) all.emplace_back("sentence");
    if (locks.interventions) all.emplace_back("interventions");
    const auto views = locks.views.size();
    static constexpr const char* kNumbers[] = {"no", "one", "two", "three", "four", "five", "six"};
    const std::string number = views < std::size(kNumbers) ? kNumbers[views] : std::to_string(views);
    if (views > 0) all.push_back(number + (views == 1 ? " view" : " views"));
    if (all.empty()) return "";
    std::string text = listed(all, "and");
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text +
           (all.size() == 1 && views != 0 && views != 1 ? " are"
            : all.size() == 1                           ? " is"
                                                        : " are") +
           " locked for this lesson.";
}

/// Draws from the bottom up: the way out, the user’s name, what is locked; returns its top.
float draw_foot(Scene& s, Rect area, const LessonState& lesson) {
    Ui& ui = s.ui;
    Rect column = inset(area, size::panel_pad, 0);
    column.h -= gap::medium;
    const Rect leave = take_bottom(column, 28);
    const float wide = ui.text.width(kCaption, "Leave the lesson");
    if (ui.link("lesson/leave", leave.x + wide, leave.middle_y(), "Leave the lesson")) s.send("lesson leave");
    Rect name = take_bottom(column, 28, gap::tight);
    const std::string& who = lesson.results.who;
    const Ui::Entry entry = ui.entry("lesson/name", name, who);
    if (!entry.open) {
        take_left(name, write(ui, name, kCaption, ui.colors->t3, "Name in the results"), gap::small);
        write(ui, name, kCaption,
              entry.hit.hovered ? ui.colors->accent_text
              : who.empty()     ? ui.colors->t3
                                : ui.colors->t1,
              who.empty() ? "none; click to type" : who, Flush::right);
    }
    if (entry.typed) s.send("lesson name", *entry.typed);
    const std::string locks = locks_text(lesson.lesson->locks);
    float top = column.bottom();
    if (!locks.empty()) {
        constexpr float kSign = 22;
        const float high = ui.text.wrapped_height(column.w - kSign, kCaption, locks);
        top -= high + gap::small;
        draw_padlock(ui, {column.x + 6, top + 9}, ui.colors->t3);
        ui.text.draw_wrapped(column.x + kSign, top, column.w - kSign, kCaption, ui.colors->t3, locks);
    }
    top -= gap::small;
    ui.hairline(column.x, top, column.right(), top);
    return top - gap::tight;
}

}  // namespace

void draw_lesson_list(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const LessonState& lesson = *open_lesson_of(s.session);
    LessonListState& state = s.of<LessonListState>();
    const bool low = area.h < 640;
    Rect below = area;
    const Rect line = take_top(below, size::view_header, 1);
    ui.hairline(line.x, line.bottom(), line.right(), line.bottom());
    Rect words = inset(line, size::panel_pad, 0);
    write(ui, take_right(words, 64), kCaptionMono, ui.colors->t3,
          std::to_string(lesson.results.done()) + " of " + std::to_string(lesson.tasks()), Flush::right);
    write(ui, words, kTitle, ui.colors->t1, "Lesson");
    const float foot = draw_foot(s, area, lesson);
    const Rect seen{area.x, below.y, area.w, foot - below.y};
    ui.scroll_area(seen);
    const Rect column = inset(area, size::panel_pad, 0);
    float y = draw_head(s, column, seen.y + gap::medium - state.scroll, lesson);
    const float high = low ? kTaskHighLow : kTaskHigh, step = low ? kTaskStepLow : kTaskStep;
    const float first = y;
    for (int i = 0; i < lesson.tasks(); ++i, y += step)
        draw_task_row(s, inset({area.x, y, area.w, high}, gap::small, 0), i, lesson);
    if (!lesson.lesson->words.empty()) {
        ui.hairline(column.x, y, column.right(), y);
        y += gap::medium;
        caption(ui, {column.x, y, column.w, size::line}, "Words from the teacher");
        y += size::line + gap::tight;
        y += ui.text.draw_wrapped(column.x, y, column.w, kBody, ui.colors->t1, lesson.lesson->words) +
             gap::small;
    }
    ui.end_scroll_area();
    if (std::exchange(state.followed, lesson.results.current) != lesson.results.current) {
        const float at = first + step * float(lesson.results.current) - seen.y + state.scroll;
        state.scroll = scrolled_to(state.scroll, at, at + high, seen.h);
    }
    state.scroll = scrolled(ui, seen, y + state.scroll - seen.y, state.scroll);
}

}  // namespace headlight
