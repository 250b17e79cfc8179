// Products of matrices that were computed, within a tile of a pool.
#pragma once

#include "model/linear.h"

namespace headlight {

/// A matrix as weights: row i is what input i gives to every output.
Linear linear_of(ConstMatrixRef rows);

/// apply_linear on the calling thread.
void apply_linear_here(ConstMatrixRef x, const Linear& w, MatrixRef y);

}  // namespace headlight
