// Eigenvalues and singular values in float64. Eigen's solvers take long to compile: this is where they are.
#pragma once

#include "base/matrix.h"

namespace headlight {

struct Eigenvectors {
    Eigen::VectorXd values;   // [n], ascending
    Eigen::MatrixXd vectors;  // [n, n], one of length 1 in each column
};

/// Columns of length 1 across each other that span those of m, which has no fewer rows.
Eigen::MatrixXf orthonormal(const Eigen::MatrixXf& m);

/// Of a symmetric matrix [n, n].
Eigenvectors symmetric_eigenvectors(const Eigen::MatrixXd& m);

/// Of any square matrix [n, n], in no order.
Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& m);

/// The singular values [inner] of left · right, the largest first, without that product: where
/// right rightᵀ = V D Vᵀ they are those of left V √D.
Vector product_singular_values(const Matrix& left, const Matrix& right);

}  // namespace headlight
