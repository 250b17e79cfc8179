// Lessons as files give them, and results of a lesson.
#include <cstdint>
#include <string>

#include "learn/lessons/results.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace headlight::lessons;
    const std::string text(reinterpret_cast<const char*>(data), size);
    if (const auto lesson = parse_lesson(text, "lesson.json")) {
        const Results none = no_results(*lesson);
        const auto again = parse_results(results_text(none), "results.json", *lesson);
        if (!again || *again != none) __builtin_trap();  // what is written reads back
    }
    const Lesson& known = built_in_lessons()[0].lesson;
    if (const auto results = parse_results(text, "results.json", known)) {
        const auto again = parse_results(results_text(*results), "results.json", known);
        if (!again || again->tasks.size() != known.tasks.size()) __builtin_trap();
        for (int task = 0; task < static_cast<int>(known.tasks.size()); ++task)
            (void)is_open(known, *results, task);
    }
    return 0;
}
