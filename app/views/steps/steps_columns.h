// Defines the columns of the table of steps.
#pragma once

#include <string>
#include <vector>

#include "views/steps/steps.h"

namespace headlight {

struct StepColumnKind {
    StepColumn what;
    const char* title;
    float wide;  // points for the number
    int digits;
    double (*value)(const KeyStep&);
    std::vector<StepColumn> from;  // columns that it is computed from
};

/// Draws one query's keys in rows, the steps in columns, and the vectors of the focused number below.
void draw_step_table(Scene& scene, Rect area, const Found<StepsRequest>& found);

/// From left to right.
const std::vector<StepColumnKind>& step_columns();

bool has_bar(StepColumn column);
/// True if this run takes the step.
bool takes_step(const Scene& scene, StepColumn column, const Steps& steps);
const char* help_of(StepColumn column, const Steps& steps);
/// "added, then W_O:", or what an intervention makes of z and the block's output.
const char* end_of(const Steps& steps);
const char* help_of_end(const Steps& steps);
/// Sorts the keys; ties stay in text order.
std::vector<int> ordered_keys(const Steps& steps, StepOrder order);
/// Draws the choices of the table, and removes their room from the line.
void choose_rows(Scene& scene, Rect& line);
std::string title_of(const Scene& scene, const StepColumnKind& column, const Steps& steps);

}  // namespace headlight
