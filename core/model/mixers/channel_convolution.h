// The convolution that a recurrence's channels pass, each by a kernel of its own, over the last tokens:
//     y_t = Σ_s kernel_s x_{t + s − kernel + 1} + b, with 0 before the first row.
#pragma once

#include "model/backward/gradient_rows.h"
#include "model/pass.h"

namespace headlight {

/// y of the rows of x[rows, channels] from `first` on.
Matrix convolved(const RecurrenceSpec& spec, const RecurrenceWeights& w, const Matrix& x, Index first,
                 ThreadPool& pool);

/// Returns the rows that the gradients of these rows reach: `reach` more tokens back.
GradientRows reaching_back(const GradientRows& keys, int reach);

/// Propagates from the rows `keys` to the rows `wide`, which reach further back.
Matrix convolution_vjp(const RecurrenceSpec& spec, const RecurrenceWeights& w, const Matrix& by,
                       const GradientRows& keys, const GradientRows& wide);

}  // namespace headlight
