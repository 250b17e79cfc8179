// Arranges the columns of the table of steps, and scrolls across if they do not fit.
#pragma once

#include <vector>

#include "paint/layout.h"
#include "views/steps/steps_columns.h"

namespace headlight {

struct PlacedStep {
    const StepColumnKind* kind;
    Rect column, bar;  // in the header; bar: no width if there is none
    bool seen = true;  // fully
    float left() const { return column.x; }
    float right() const { return column.right(); }
};

struct StepLayout {
    Rect names;         // of the keys
    Rect sight;         // of the columns
    float hidden = -1;  // width scrolled out at the left; below 0: all columns fit
    Grid rows;
    std::vector<int> keys;  // of the rows
    std::vector<PlacedStep> columns;
    float largest_dot = 1e-6f, largest_moved = 1e-6f;  // scales of the bars
};

StepLayout arrange_steps(Scene& scene, Rect area, const Steps& steps);
const PlacedStep* find_column(const StepLayout& t, StepColumn column);
Rect cell_box(const StepLayout& t, const PlacedStep& p, int row_index);
void show_column(Scene& scene, const StepLayout& t, StepColumn column);

}  // namespace headlight
