// Builds tables of numbers from what a view shows.
#pragma once

#include "io/numbers.h"
#include "parts/scene.h"

namespace headlight {

/// Replaces negative entries (masked, absent) by NaN.
Matrix shown_only(const Matrix& values);

Matrix matrix_of_columns(const std::vector<std::vector<float>>& columns);

std::vector<NumberTable> pattern_numbers(const Scene& scene);

}  // namespace headlight
