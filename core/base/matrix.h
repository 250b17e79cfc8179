// The matrix types of the whole program: float32, row-major, one row per token.
#pragma once

#include <Eigen/Core>
#include <cstdint>

namespace headlight {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXf;
/// For numbers that a float would round: counts.
using DoubleMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
/// A matrix or a block of columns of one; rows may lie further apart than they are long.
using MatrixRef = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
using ConstMatrixRef = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;
/// One that lies elsewhere, in a mapped file for example.
using ConstMatrixMap = Eigen::Map<const Matrix>;
using Index = Eigen::Index;

/// Whether no entry is NaN or infinite, at the cost of one reading: 0 · x is 0 for what is finite and NaN for
/// the rest.
inline bool all_finite(const ConstMatrixRef& x) {
    float sum = 0;
    for (Index i = 0; i < x.rows(); ++i) sum += (x.row(i).array() * 0.0f).sum();
    return sum == 0;
}

}  // namespace headlight
