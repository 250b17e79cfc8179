// Computes eigenvalues and singular values in float64. Keeps Eigen's slow-compiling solvers in one file.
#pragma once

#include "base/matrix.h"

namespace headlight {

struct Eigenvectors {
    Eigen::VectorXd values;   // [n], ascending
    Eigen::MatrixXd vectors;  // [n, n], unit vectors in columns
};

/// Returns an orthonormal basis, in columns, of the span of m, which has no fewer rows than columns.
Eigen::MatrixXf orthonormal(const Eigen::MatrixXf& m);

/// Decomposes a symmetric matrix [n, n].
Eigenvectors symmetric_eigenvectors(const Eigen::MatrixXd& m);

/// Returns the eigenvalues of any square matrix [n, n], in no order.
Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& m);

/// Returns the singular values [inner] of left · right, descending, without computing that product: with
/// right rightᵀ = V D Vᵀ they are those of left V √D.
Vector product_singular_values(const Matrix& left, const Matrix& right);

}  // namespace headlight
