// What a view shows, as tables.
#pragma once

#include "io/numbers.h"
#include "views/views.h"

namespace headlight {

// One function for each view of the table of views; empty where there is nothing to show.
std::vector<NumberTable> pattern_numbers(const Scene& scene);
std::vector<NumberTable> layer_numbers(const Scene& scene);
std::vector<NumberTable> alignment_numbers(const Scene& scene);
std::vector<NumberTable> position_numbers(const Scene& scene);
std::vector<NumberTable> steps_numbers(const Scene& scene);
std::vector<NumberTable> delta_numbers(const Scene& scene);
std::vector<NumberTable> lens_numbers(const Scene& scene);
std::vector<NumberTable> graph_numbers(const Scene& scene);
std::vector<NumberTable> compare_numbers(const Scene& scene);
std::vector<NumberTable> heads_numbers(const Scene& scene);

/// Those of the view that is shown.
std::vector<NumberTable> shown_numbers(const Scene& scene);

}  // namespace headlight
