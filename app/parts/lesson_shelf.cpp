#include "parts/lesson_shelf.h"

#include "base/cast.h"
#include "paint/layout.h"
#include "session/lesson.h"

namespace headlight {

namespace {

struct LessonShelf {
    std::vector<std::string> ends;  // of each row: "2 of 5", "20 min"
    double drawn = -1;              // when it was last drawn
};

std::vector<std::string> row_ends() {
    std::vector<std::string> out;
    for (const auto& [name, lesson] : lessons::built_in_lessons()) {
        const auto results = known_results(name, lesson);
        out.push_back(results && results->done() > 0
                          ? std::to_string(results->done()) + " of " + std::to_string(lesson.tasks.size())
                          : std::to_string(lesson.minutes) + " min");
    }
    return out;
}

}  // namespace

float draw_lesson_shelf(Scene& s, float x, float y, float width) {
    constexpr float kRowHigh = 28, kEnd = 64, kAway = 0.5f;
    Ui& ui = s.ui;
    LessonShelf& shelf = s.of<LessonShelf>();
    const double now = ImGui::GetTime();
    if (shelf.drawn < 0 || now - shelf.drawn > double(kAway)) shelf.ends = row_ends();  // a lesson was open
    shelf.drawn = now;
    y += gap::medium;
    ui.hairline(x, y, x + width, y);
    y += gap::small;
    caption(ui, {x, y, width, size::line}, "Lessons: tasks that the program judges");
    y += size::line + gap::tight;
    const auto all = lessons::built_in_lessons();
    for (size_t i = 0; i < all.size(); ++i, y += kRowHigh) {
        const Rect r{x - gap::small, y, width + 2 * gap::small, kRowHigh - 2};
        const std::string path = "learn/lesson/" + all[i].name;
        const Hit h = ui.control(path, r);
        if (h.hovered) ui.fill(r, ui.colors->bg3, size::corner);
        Rect line = inset(r, gap::small, 0);
        write(ui, take_right(line, kEnd), kCaptionMono, ui.colors->t3, shelf.ends[i], Flush::right);
        write(ui, line, kBody, h.hovered ? ui.colors->t1 : ui.colors->t2, all[i].lesson.title);
        if (h.clicked) s.send("lesson", all[i].name);
    }
    return y + gap::small;
}

}  // namespace headlight
