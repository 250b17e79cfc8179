// Adds a learned product of low rank beside attention (LAuReL: Menghani et al. 2024; Gemma 3n): with y the
// normed input that attention reads, the stream in the middle of the layer is
// mid = (x + attention(y) + y + norm(W_up W_down y)) / √2.
#pragma once

#include "model/backward/gradient_rows.h"
#include "model/pass.h"

namespace headlight {

/// [rows, d_model]: mid, of x + attention(y) for these rows x of the layer's input, which it norms to y.
Matrix with_laurel(const StackRun& run, int layer, ConstMatrixRef x, Matrix attended);

/// Returns the factor of the sum.
inline constexpr float kLaurelShare = float(M_SQRT1_2);

/// [rows, d_model]: maps the gradient by y + norm(W_up W_down y) to the one by y[n, d_model].
Matrix laurel_vjp(const StackRun& run, int layer, const Matrix& y, const Matrix& gradient,
                  const GradientRows& rows);

}  // namespace headlight
