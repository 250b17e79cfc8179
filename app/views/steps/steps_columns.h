// The columns of the table of steps.
#pragma once

#include <string>
#include <vector>

#include "views/steps/steps.h"

namespace headlight {

/// A row of the table of columns.
struct StepColumnKind {
    StepColumn what;
    const char* title;
    float wide;  // points for the number
    int digits;
    double (*value)(const KeyStep&);
    std::vector<StepColumn> from;  // what it is computed from, in the same row
};

/// One query's keys in rows, what each goes through in columns; the vectors of the focused number below.
void draw_step_table(Scene& scene, Rect area, const Found<StepsRequest>& found);

/// The table, from left to right.
const std::vector<StepColumnKind>& step_columns();

bool has_bar(StepColumn column);
/// Whether this run takes the step.
bool takes_step(const Scene& scene, StepColumn column, const Steps& steps);
/// What it is, in a sentence.
const char* help_of(StepColumn column, const Steps& steps);
/// What comes of the weighted values: "added, then W_O", or what a person put in their place.
const char* end_of(const Steps& steps);
const char* help_of_end(const Steps& steps);
/// The keys in the order that was asked for; those that are alike as in the text.
std::vector<int> ordered_keys(const Steps& steps, StepOrder order);
/// "Show [attention v] Keys [as in the text v]", taken off the line.
void choose_rows(Scene& scene, Rect& line);
std::string title_of(const Scene& scene, const StepColumnKind& column, const Steps& steps);

}  // namespace headlight
