// Draws what a task is answered with: words, heads, layers, choices; and covers a view before a guess.
#include <algorithm>

#include "base/cast.h"
#include "paint/chip.h"
#include "paint/layout.h"
#include "panels/lesson/lesson.h"
#include "parts/controls.h"

namespace headlight {

namespace {

using lessons::TaskKind;

/// Draws answers as chips in lines; sends the one that was clicked. `answers`: what `lesson answer` reads.
float draw_answer_chips(Scene& s, float x, float y, float width, const std::vector<std::string>& labels,
                        const std::vector<std::string>& answers, const std::string& path) {
    Ui& ui = s.ui;
    const std::string& said = s.session.of<LessonState>().answer;
    float at = x;
    for (size_t i = 0; i < labels.size(); ++i) {
        const std::string label = ui.text.fitted(kCaptionMono, labels[i], width - 2 * size::chip_pad);
        const Chip chip{label, ui.colors->t1, ui.colors->bg2, ui.colors->l2};
        const float wide = chip_width(ui, chip);
        if (at > x && at + wide > x + width) {
            at = x;
            y += size::chip + gap::tight;
        }
        if (press_chip(ui, path + answers[i], {at, y, wide, size::chip}, chip, answers[i] == said).clicked) {
            s.send("lesson answer", answers[i]);
            s.leave_text();
        }
        at += wide + gap::tight;
    }
    return y + (labels.empty() ? 0 : size::chip);
}

/// The words that the judged query may look at.
float draw_words(Scene& s, float x, float y, float width, const lessons::Task& task) {
    const auto head = parse_head(s.model()->config, task.head, "head");
    if (!head) return y;
    const auto& keys = s.sentence()->key_labels(head->block);
    const int queries = isize(s.sentence()->query_labels(head->block));
    const int query = task.query < 0 ? queries - 1 : task.query;
    const AttentionBlock at = s.model()->config.block(head->block);
    const bool causal = at.kind != AttentionKind::cross && s.model()->config.stacks[at.stack].causal;
    const int count = causal ? std::min(isize(keys), query + 1) : isize(keys);
    std::vector<std::string> labels, answers;
    for (int key = task.without_first ? 1 : 0; key < count; ++key) {
        labels.push_back(token_at(keys, key));
        answers.push_back(std::to_string(key));
    }
    return draw_answer_chips(s, x, y, width, labels, answers, "lesson/word/");
}

float draw_layers(Scene& s, float x, float y, float width) {
    std::vector<std::string> labels, answers;
    for (int layer = 0; layer < s.model()->config.stacks.back().depth(); ++layer) {
        labels.push_back("layer " + std::to_string(layer));
        answers.push_back(std::to_string(layer));
    }
    return draw_answer_chips(s, x, y, width, labels, answers, "lesson/layer/");
}

float draw_choices(Scene& s, float x, float y, float width, const lessons::Task& task) {
    Ui& ui = s.ui;
    const std::string& said = s.session.of<LessonState>().answer;
    for (size_t i = 0; i < task.choices.size(); ++i) {
        const std::string& choice = task.choices[i];
        const Rect r{x, y, width, size::button};
        const Chip chip{ui.text.fitted(kBody, choice, width - 2 * size::chip_pad),
                        ui.colors->t1,
                        ui.colors->bg2,
                        ui.colors->l2,
                        "",
                        kBody};
        if (press_chip(ui, "lesson/choice/" + std::to_string(i + 1), r, chip, choice == said).clicked)
            s.send("lesson answer", choice);
        y += size::button + gap::tight;
    }
    return y;
}

/// A button that judges what is selected or typed.
float draw_check(Scene& s, float x, float y, float width, const std::string& label, bool done) {
    const Rect r{x, y, width, size::button};
    if (s.ui.button("lesson/check", r, label, done ? Ui::Look::normal : Ui::Look::primary)) {
        s.send("lesson answer");
        s.leave_text();
    }
    return y + size::button;
}

}  // namespace

float draw_lesson_answers(Scene& s, float x, float y, float width) {
    const LessonState& lesson = *open_lesson_of(s.session);
    const lessons::Task& task = lesson.task();
    if (!s.sentence()) return y;
    switch (task.kind) {
        case TaskKind::head:
            return draw_check(s, x, y, width,
                              "Check head " + head_name(s.model()->config, s.session.selection.block,
                                                        s.session.selection.head),
                              lesson.result().done);
        case TaskKind::look:
            return draw_words(s, x, y, width, task);
        case TaskKind::answer:
            return draw_check(s, x, y, width, "Check this sentence", lesson.result().done);
        case TaskKind::layer:
            return draw_layers(s, x, y, width);
        case TaskKind::station:
            return draw_choices(s, x, y, width, task);
        case TaskKind::metric:
            break;
    }
    return y;
}

bool draw_lesson_cover(Scene& s, Rect area) {
    const LessonState* lesson = open_lesson_of(s.session);
    if (!lesson || !covers_view(*lesson)) return false;
    Ui& ui = s.ui;
    const float wide = std::min(420.0f, area.w - 2 * gap::wide);
    const Rect plate{area.middle_x() - wide / 2, area.middle_y() - 60, wide, 120};
    ui.name("lesson/cover", area);
    ui.frame(plate, ui.colors->l2, 1, size::popup_corner);
    Rect inside = inset(plate, gap::wide, gap::wide);
    write(ui, take_top(inside, 32), kTitle, ui.colors->t1, "Guess first", Flush::center);
    write(ui, take_top(inside, 24), kBody, ui.colors->t2, "The picture appears with your answer.",
          Flush::center);
    return true;
}

}  // namespace headlight
