// Sinusoidal positions (Vaswani et al. 2017, section 3.5), computed for the rows that are read.
#pragma once

#include "base/matrix.h"
#include "model/model.h"

namespace headlight {

/// [rows, width] of the positions first, first + 1, …: sin(p / base^(i / steps)) in the first half of the
/// components, cosines in the second. steps 0: width / 2.
Matrix sinusoids(Index width, Index first, Index rows, double base = 10000, double steps = 0);

/// Returns the steps of a model's sinusoids: width / 2, or width / 2 − 1, so that the last frequency is 1 /
/// base.
double wave_steps(const ModelConfig& config, Index width);

/// [rows, width]: the rows of a model's table of sinusoids from `first` on; the padding id's is 0.
Matrix position_waves(const ModelConfig& config, Index width, Index first, Index rows);

}  // namespace headlight
