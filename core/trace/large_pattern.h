// Summarizes patterns of long texts: n² entries that are never held at once.
#pragma once

#include <cmath>
#include <functional>

#include "trace/trace.h"

namespace headlight {

/// Bounds the side of a map that is shown or kept whole: 8,192² float32 are 256 MB.
inline constexpr int kMaxMapSide = 8192;

/// Returns the rows and columns per entry with which a map of rows × columns has at most `side` per side.
int map_step(Index rows, Index columns, int side);

/// Returns the value that is farther from 0; of a masked one and another, the other.
inline float stronger(float a, float b) {
    return is_masked(a) ? b : is_masked(b) ? a : std::abs(b) > std::abs(a) ? b : a;
}

/// Max-pools rows × columns entries by size; the last blocks of a side may be smaller.
Matrix max_pool(const Matrix& m, Index rows, Index columns);

/// Returns the largest size of the visible entries; 0 if there are none.
float largest_entry(ConstMatrixRef weights);

/// Returns the 99th percentile of the sizes of the visible entries of a pattern; of more than 65,536 entries
/// it samples about as many evenly. 0 if there are none.
float percentile_99(const Matrix& weights);

/// [⌈rows / step⌉, ⌈columns / step⌉]: max-pools step × step entries of a map whose rows block(first, count)
/// computes. Computes blocks on all threads; memory grows with the result and not with n².
Matrix max_pool_squares(Index rows, Index columns, int step, ThreadPool& pool,
                        const std::function<Matrix(int first, int count)>& block);

}  // namespace headlight
