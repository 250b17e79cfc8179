// Memory of matrices that passes leave to the next ones.
#pragma once

#include <cstdint>

#include "base/matrix.h"

namespace headlight {

/// [rows, cols], not set to anything: in the memory of a matrix of as many entries that was left, where there
/// is one. The pages of large new ones cost more than a twentieth of a pass: the system clears each where it
/// is first touched.
Matrix spare_matrix(Index rows, Index cols);

/// Leaves a matrix's memory to the next that asks for as many entries. At most 256 MB are kept, the newest;
/// small ones are freed at once. Any thread may leave one and take it.
void leave_spare(Matrix&& matrix) noexcept;

/// Frees what is kept; how many bytes that were.
int64_t free_spares() noexcept;

}  // namespace headlight
