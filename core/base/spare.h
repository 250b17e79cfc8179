// Recycles the memory of matrices from one pass to the next.
#pragma once

#include <cstdint>

#include "base/matrix.h"

namespace headlight {

/// Returns an uninitialized [rows, cols], in the memory of a spare matrix of as many entries if there is one.
/// Fresh pages would cost over a twentieth of a pass: the system clears each on first use.
Matrix spare_matrix(Index rows, Index cols);

/// Leaves a matrix's memory to the next that asks for as many entries. Keeps at most 256 MB, the newest;
/// frees small ones at once. Thread-safe.
void leave_spare(Matrix&& matrix) noexcept;

/// Frees what is kept and returns how many bytes that was.
int64_t free_spares() noexcept;

}  // namespace headlight
