// Computes score functions.
#include "learn/score_function_table.h"

#include <array>
#include <cmath>

#include "base/check.h"
#include "base/draws.h"

namespace headlight {

namespace {

float root(Index d) { return float(std::sqrt(double(d))); }

/// qᵀ W k / √d.
Matrix general_scores(ConstMatrixRef q, ConstMatrixRef k, const ScoreParameters& p) {
    return q * p.general * k.transpose() / root(q.cols());
}

/// vᵀ tanh(W₁ q + W₂ k).
Matrix additive_scores(ConstMatrixRef q, ConstMatrixRef k, const ScoreParameters& p) {
    const Matrix of_query = q * p.of_query.transpose(), of_key = k * p.of_key.transpose();
    Matrix out(q.rows(), k.rows());
    for (Index i = 0; i < q.rows(); ++i)
        for (Index j = 0; j < k.rows(); ++j)
            out(i, j) = (of_query.row(i) + of_key.row(j)).array().tanh().matrix().dot(p.additive.transpose());
    return out;
}

/// W q: does not depend on the key.
Matrix location_scores(ConstMatrixRef q, ConstMatrixRef k, const ScoreParameters& p) {
    HEADLIGHT_CHECK(p.location.rows() >= k.rows());
    return q * p.location.topRows(k.rows()).transpose();
}

/// −‖q − k‖² / 2σ².
Matrix kernel_scores(ConstMatrixRef q, ConstMatrixRef k, const ScoreParameters& p) {
    const float width = p.width > 0 ? p.width : root(q.cols());
    return squared_distances(q, k) / (-2 * width * width);
}

constexpr std::array<ScoreKind, 7> kScores{{
    {"dot", "Dot", "q · k", "Luong et al. 2015",
     [](ConstMatrixRef q, ConstMatrixRef k, const ScoreParameters&) { return dot_scores(q, k); }},
    {"scaled_dot", "Scaled dot", "q · k / √d", "Vaswani et al. 2017",
     [](ConstMatrixRef q, ConstMatrixRef k, const ScoreParameters&) { return scaled_dot_scores(q, k); }},
    {"general", "General", "qᵀ W k / √d", "Luong et al. 2015, scaled here", general_scores},
    {"additive", "Additive", "vᵀ tanh(W₁ q + W₂ k)", "Bahdanau et al. 2014", additive_scores},
    {"location", "Location", "W q, one score per position", "Luong et al. 2015", location_scores},
    {"cosine", "Cosine", "β q · k / (‖q‖ ‖k‖)", "Graves et al. 2014",
     [](ConstMatrixRef q, ConstMatrixRef k, const ScoreParameters& p) -> Matrix {
         return cosines(q, k) * p.sharpness;
     }},
    {"kernel", "Kernel", "−‖q − k‖² / 2σ²", "Gaussian kernel, Nadaraya 1964, Watson 1964", kernel_scores},
}};

}  // namespace

ScoreParameters ScoreParameters::random(Index d, Index keys, uint32_t seed) {
    const double deviation = 1 / std::sqrt(double(d));
    Draws draws(seed);
    ScoreParameters p;
    p.general = Matrix::Identity(d, d) + normal_matrix(d, d, deviation / 2, draws);
    p.of_query = normal_matrix(d, d, deviation, draws);
    p.of_key = normal_matrix(d, d, deviation, draws);
    p.additive = 2 * normal_matrix(d, 1, 1, draws).col(0).normalized();
    p.location = normal_matrix(keys, d, deviation, draws);
    return p;
}

std::span<const ScoreKind> score_functions() { return kScores; }

ScoreCost dot_cost(int64_t n, int64_t m, int64_t d) { return {n * m * d, 0, n * m}; }

ScoreCost additive_cost(int64_t n, int64_t m, int64_t d, int64_t h) {
    return {(n + m) * d * h + n * m * h, n * m * h, n * m + n * m * h};
}

Matrix dot_scores(ConstMatrixRef q, ConstMatrixRef k) { return q * k.transpose(); }

Matrix scaled_dot_scores(ConstMatrixRef q, ConstMatrixRef k) { return q * k.transpose() / root(q.cols()); }

Matrix cosines(ConstMatrixRef q, ConstMatrixRef k) {
    return q.rowwise().normalized() * k.rowwise().normalized().transpose();
}

Matrix squared_distances(ConstMatrixRef q, ConstMatrixRef k) {
    Matrix out(q.rows(), k.rows());
    for (Index i = 0; i < q.rows(); ++i)
        for (Index j = 0; j < k.rows(); ++j) out(i, j) = (q.row(i) - k.row(j)).squaredNorm();
    return out;
}

}  // namespace headlight
