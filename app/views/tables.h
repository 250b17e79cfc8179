// Builds tables of numbers from what a view shows.
#pragma once

#include "io/numbers.h"
#include "parts/scene.h"

namespace headlight {

/// Replaces negative entries (masked, absent) by NaN.
Matrix shown_only(const Matrix& values);

Matrix matrix_of_columns(const std::vector<std::vector<float>>& columns);

/// Makes the table of a pattern, masked cells empty. A sink that is no key is its last column, with which
/// rows sum to 1; sinks: [queries], or empty.
NumberTable pattern_table(std::string name, std::span<const std::string> queries,
                          std::span<const std::string> keys, const Matrix& weights, const Vector& sinks);
std::vector<NumberTable> pattern_numbers(const Scene& scene);

}  // namespace headlight
