// Wraps Eigen's solvers.
#include "base/spectrum.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include "base/check.h"

namespace headlight {

Eigen::MatrixXf orthonormal(const Eigen::MatrixXf& m) {
    return Eigen::HouseholderQR<Eigen::MatrixXf>(m).householderQ() *
           Eigen::MatrixXf::Identity(m.rows(), m.cols());
}

Eigenvectors symmetric_eigenvectors(const Eigen::MatrixXd& m) {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(m);
    return {solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& m) {
    return Eigen::EigenSolver<Eigen::MatrixXd>(m, false).eigenvalues();
}

Vector product_singular_values(const Matrix& left, const Matrix& right) {
    HEADLIGHT_CHECK(left.cols() == right.rows());
    const Eigen::MatrixXd l = left.cast<double>(), r = right.cast<double>();
    const Eigenvectors of_right = symmetric_eigenvectors(r * r.transpose());
    const Eigen::MatrixXd directions =
        of_right.vectors * of_right.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
    const Eigen::MatrixXd stretched = l * directions;
    const Eigenvectors squared = symmetric_eigenvectors(stretched.transpose() * stretched);
    return squared.values.reverse().cwiseMax(0.0).cwiseSqrt().cast<float>();
}

}  // namespace headlight
