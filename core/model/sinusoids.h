// Sinusoidal positions (Vaswani et al. 2017, section 3.5), computed for the rows that are read.
#pragma once

#include "base/matrix.h"

namespace headlight {

/// [rows, width] of the positions first, first + 1, …: sin(p / base^(2i / width)) in the first half of the
/// components, cosines in the second.
Matrix sinusoids(Index width, Index first, Index rows, double base = 10000);

}  // namespace headlight
