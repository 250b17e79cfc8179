// Turns scores into weights.
#include "learn/normalizers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "base/check.h"

namespace headlight {

namespace {

constexpr std::array<NormalizerKind, 4> kNormalizers{{
    {"softmax", "Softmax", "exp(sᵢ) / Σ exp(sⱼ)", "Bridle 1990", softmax_weights},
    {"sum", "Sum", "sᵢ / Σ sⱼ", "a plain share; negative scores give negative weights", sum_weights},
    {"sparsemax", "Sparsemax", "max(sᵢ − τ, 0), Σ = 1", "Martins and Astudillo 2016", sparsemax_weights},
    {"hard", "Hard max", "1 at the largest sᵢ", "Xu et al. 2015, without sampling", hard_weights},
}};

}  // namespace

std::span<const NormalizerKind> normalizers() { return kNormalizers; }

Vector softmax_weights(const Vector& scores) {
    const Eigen::ArrayXd p = (scores.cast<double>().array() - double(scores.maxCoeff())).exp();
    return (p / p.sum()).cast<float>();
}

Vector sum_weights(const Vector& scores) {
    const double sum = scores.cast<double>().sum();
    if (sum == 0) return Vector::Constant(scores.size(), std::numeric_limits<float>::quiet_NaN());
    return (scores.cast<double>() / sum).cast<float>();
}

Vector sparsemax_weights(const Vector& scores) {
    std::vector<double> sorted(scores.begin(), scores.end());
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    double sum = 0, threshold = 0;
    for (int i = 0; i < static_cast<int>(sorted.size()); ++i) {
        if (1 + (i + 1) * sorted[i] <= sum + sorted[i]) break;
        sum += sorted[i];
        threshold = (sum - 1) / (i + 1);
    }
    return (scores.cast<double>().array() - threshold).max(0.0).cast<float>();
}

Vector hard_weights(const Vector& scores) {
    Index best = 0;
    scores.maxCoeff(&best);
    return Vector::Unit(scores.size(), best);
}

Matrix normalize_rows(const NormalizerKind& normalizer, const Matrix& scores) {
    Matrix out = Matrix::Zero(scores.rows(), scores.cols());
    for (Index row = 0; row < scores.rows(); ++row) {
        std::vector<Index> seen;
        for (Index key = 0; key < scores.cols(); ++key)
            if (!std::isnan(scores(row, key))) seen.push_back(key);
        if (!seen.empty())
            out.row(row)(seen) = normalizer.weights(scores.row(row)(seen).transpose()).transpose();
    }
    return out;
}

float entropy_bits(const Vector& weights) {
    double bits = 0;
    for (const float w : weights) {
        if (!(w >= 0)) return std::numeric_limits<float>::quiet_NaN();
        if (w > 0) bits -= w * std::log2(double(w));
    }
    return float(bits);
}

float asymmetry(const Matrix& s) {
    HEADLIGHT_CHECK(s.rows() == s.cols());
    const double all = s.cast<double>().squaredNorm();
    return all > 0 ? float((s - s.transpose()).cast<double>().squaredNorm() / 4 / all) : 0.0f;
}

}  // namespace headlight
