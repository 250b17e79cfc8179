// The matrix types of the whole program: float32, row-major, one row per token.
#pragma once

#include <Eigen/Core>
#include <cstdint>

namespace headlight {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXf;
/// A matrix or a block of columns of one; rows may lie further apart than they are long.
using MatrixRef = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
using ConstMatrixRef = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;
using Index = Eigen::Index;

}  // namespace headlight
