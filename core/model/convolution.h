// A convolution along the text beside a layer (DeBERTa v2, He et al. 2021): out = norm(y + act(conv(x))),
// where x enters the layer and y leaves its MLP. conv(x)_t = Σ_j W_j x_{t + j − ⌊kernel / 2⌋} + b, with 0
// beyond the ends.
#pragma once

#include "model/backward/gradient_rows.h"
#include "model/pass.h"

namespace headlight {

/// [n, d_model]: act(conv(x)) for all rows of a text, or of the part of one around the rows that are read.
Matrix convolution_output(const StackRun& run, int layer, ConstMatrixRef x);

/// [n, d_model]: norm(y + act(conv(x))).
Matrix add_convolution(const StackRun& run, int layer, ConstMatrixRef x, ConstMatrixRef y);

struct ConvolutionGradients {
    Matrix y;  // in the rows of the gradient that was given
    Matrix x;  // [x_rows]: a row reaches its neighbors too
    GradientRows x_rows;
};

/// Propagates a gradient by the layer's output, in these rows, to x and y.
ConvolutionGradients convolution_vjp(const StackRun& run, int layer, const Matrix& x, const Matrix& y,
                                     const Matrix& gradient, const GradientRows& rows);

}  // namespace headlight
