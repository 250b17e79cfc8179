// Patterns of long texts: n² entries that are never held at once.
#pragma once

#include <functional>

#include "trace/trace.h"

namespace headlight {

/// Most entries along a side of a map that is shown or kept whole: 8,192² float32 are 256 MB.
inline constexpr int kMaxMapSide = 8192;

/// Rows and columns that lie on one entry, so that a map of rows × columns has at most `side` entries along a
/// side.
int map_step(Index rows, Index columns, int side);

/// The largest of each rows × columns entries; the last ones of a side may be fewer.
Matrix largest_of_blocks(const Matrix& m, Index rows, Index columns);

/// The weight that 99 % of the visible ones (0 and more) of a pattern do not exceed; of more than 65,536
/// entries, of about as many that are spread evenly. 0 where there are none.
float percentile_99(const Matrix& weights);

/// [⌈rows / step⌉, ⌈columns / step⌉], the largest of each step × step entries of a map of which block(first,
/// count) gives some whole rows. Blocks are made on all threads, so that memory grows with what comes out and
/// not with n².
Matrix largest_of_squares(Index rows, Index columns, int step, ThreadPool& pool,
                          const std::function<Matrix(int first, int count)>& block);

}  // namespace headlight
