// Counts what a run changes, as tasks count it: cells and heads.
#pragma once

#include <string>

#include "learn/lessons/lesson.h"
#include "trace/trace.h"

namespace headlight::lessons {

/// Holds the masked cells and ablated heads of a run. A cell that is masked in all heads is one; each head of
/// a layer that is ablated is one.
struct Used {
    int cells = 0, heads = 0;
    std::string label;  // "red 16 → ball 4, red 16 → ball 10"; of many: "12 cells"
    std::string other;  // a change that the task does not count, or ""

    int count() const { return cells + heads; }
    /// "One cell", "Two cells", "12 cells", "One head", "Two cells and one head".
    std::string counted() const;
};

Used used_by(const Trace& trace, Means means);

}  // namespace headlight::lessons
