// What a view shows, as tables.
#pragma once

#include "io/numbers.h"
#include "parts/scene.h"

namespace headlight {

/// Negative entries (masked, absent) become NaN.
Matrix shown_only(const Matrix& values);

/// Columns side by side.
Matrix matrix_of_columns(const std::vector<std::vector<float>>& columns);

/// The weights of the head that is shown.
std::vector<NumberTable> pattern_numbers(const Scene& scene);

}  // namespace headlight
