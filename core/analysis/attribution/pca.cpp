// Computes principal components.
#include "analysis/attribution/pca.h"

#include <algorithm>

#include "base/draws.h"
#include "base/spectrum.h"

namespace headlight {

namespace {
constexpr Index kSubspace = 8;
constexpr int kRounds = 40;
}  // namespace

Plane principal_plane(const Matrix& points, const CancelFlag* cancel) {
    Plane out{Matrix::Zero(points.rows(), 2), 1};
    const Matrix x = points.rowwise() - points.colwise().mean();
    const double variance = x.cast<double>().squaredNorm();
    const Index k = std::min({kSubspace, x.cols(), std::max<Index>(x.rows(), 1)});
    if (variance < 1e-20 || k == 0) return out;
    Draws draws(1);
    Eigen::MatrixXf basis = normal_matrix(x.cols(), k, 1, draws);
    for (int i = 0; i < kRounds && !stopped(cancel); ++i) basis = orthonormal(x.transpose() * (x * basis));
    const Eigen::MatrixXf inside = x * basis;  // [rows, k]
    const Eigenvectors own = symmetric_eigenvectors((inside.transpose() * inside).cast<double>());
    const Index found = std::min<Index>(2, k);
    double held = 0;
    for (Index i = 0; i < found; ++i) {
        Vector along = inside * own.vectors.col(k - 1 - i).cast<float>();
        Index far = 0;
        along.cwiseAbs().maxCoeff(&far);
        out.points.col(i) = along[far] < 0 ? Vector(-along) : along;
        held += along.cast<double>().squaredNorm();
    }
    out.kept = float(std::min(1.0, held / variance));
    return out;
}

}  // namespace headlight
