// Where the table of steps has its columns, which are scrolled across where they have no room.
#pragma once

#include <vector>

#include "paint/layout.h"
#include "views/steps/steps_columns.h"

namespace headlight {

struct PlacedStep {
    const StepColumnKind* kind;
    Rect column, bar;  // of the head row; bar: no width where there is none
    bool seen = true;  // all of it
    float left() const { return column.x; }
    float right() const { return column.right(); }
};

struct StepLayout {
    Rect names;         // beside the columns
    Rect sight;         // of the columns, which lie in it or are scrolled across
    float hidden = -1;  // of them at its left; below 0: all have room
    Grid rows;
    std::vector<int> keys;  // that stand in them
    std::vector<PlacedStep> columns;
    float largest_dot = 1e-6f, largest_moved = 1e-6f;  // what the longest bars stand for
};

StepLayout arrange_steps(Scene& scene, Rect area, const Steps& steps);
const PlacedStep* find_column(const StepLayout& t, StepColumn column);
Rect cell_box(const StepLayout& t, const PlacedStep& p, int row_index);
/// Scrolls across to a column.
void show_column(Scene& scene, const StepLayout& t, StepColumn column);

}  // namespace headlight
