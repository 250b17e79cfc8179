// Lists the lessons that come with the program, from assets/lessons/, and tells tasks apart.
#include <algorithm>

#include "base/check.h"
#include "base/digest.h"
#include "base/embedded.h"
#include "learn/lessons/lesson.h"

namespace headlight::lessons {

namespace {

/// Their names and files, in the order in which they are offered: the only place to add one.
constexpr const char* kBuiltInLessons[] = {"how-a-model-copies-a-word", "heads-with-a-job",
                                           "what-a-mask-hides"};

std::vector<BuiltInLesson> read_built_in() {
    std::vector<BuiltInLesson> out;
    for (const char* name : kBuiltInLessons) {
        auto lesson = parse_lesson(built_in_lesson_text(name), name);
        HEADLIGHT_CHECK(bool(lesson));
        out.push_back({name, *std::move(lesson)});
    }
    return out;
}

}  // namespace

std::string_view built_in_lesson_text(std::string_view name) {
    return embedded_file("assets/lessons/" + std::string(name) + std::string(kLessonEnding));
}

std::string_view example_lesson_text() { return embedded_file("assets/lessons/example.json"); }

std::span<const BuiltInLesson> built_in_lessons() {
    static const std::vector<BuiltInLesson> all = read_built_in();
    return all;
}

const BuiltInLesson* find_built_in_lesson(std::string_view name) {
    const auto all = built_in_lessons();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const BuiltInLesson& one) { return one.name == name; });
    return found == all.end() ? nullptr : &*found;
}

std::string task_digest(const Lesson& lesson, const Task& t) {
    Digest digest(DigestKind::sha1);
    const auto add = [&](const std::string& part) {
        digest.add(part);
        digest.add(std::string_view("\0", 1));
    };
    const auto bound = [](const std::optional<double>& number) {
        return number ? std::to_string(*number) : std::string();
    };
    const std::string numbers = std::to_string(static_cast<int>(t.kind)) + bound(t.below) + "," +
                                bound(t.above) + "," + std::to_string(static_cast<int>(t.by)) + "," +
                                std::to_string(t.at_most) + "," + bound(t.at_least) + "," +
                                std::to_string(t.query) + "," + std::to_string(t.without_first) + "," +
                                std::to_string(t.changes);
    for (const std::string& part : {lesson.model, lesson.text, lesson.second, t.title, numbers, t.head,
                                    t.metric, t.statistic, t.word, t.station, t.right})
        add(part);
    return digest.finish().substr(0, 16);
}

}  // namespace headlight::lessons
