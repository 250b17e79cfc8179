// Defines the matrix types of the whole program: float32, row-major, one row per token.
#pragma once

#include <Eigen/Core>

namespace headlight {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXf;
/// For values that a float would round: counts.
using DoubleMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
/// References a matrix or a block of its columns; the stride may exceed the width.
using MatrixRef = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
using ConstMatrixRef = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;
/// References a matrix elsewhere, in a mapped file for example.
using ConstMatrixMap = Eigen::Map<const Matrix>;
using Index = Eigen::Index;

/// Returns whether no entry is NaN or infinite, in one pass: 0 · x is 0 for finite x and NaN otherwise.
inline bool all_finite(const ConstMatrixRef& x) {
    float sum = 0;
    for (Index i = 0; i < x.rows(); ++i) sum += (x.row(i).array() * 0.0f).sum();
    return sum == 0;
}

}  // namespace headlight
