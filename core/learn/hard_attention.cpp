// Simulates hard and local attention.
#include "learn/hard_attention.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "base/cast.h"
#include "base/check.h"
#include "base/draws.h"

namespace headlight {

namespace {

constexpr int kDrawRepetitions = 16;

std::vector<double> cumulative(std::span<const float> weights) {
    std::vector<double> out(weights.begin(), weights.end());
    std::partial_sum(out.begin(), out.end(), out.begin());
    return out;
}

/// Draws a key by its weight. Rounding may push the draw to the total: the last key.
int draw_key(const std::vector<double>& ends, Draws& random) {
    const double drawn = std::min(random.uniform() * ends.back(), std::nextafter(ends.back(), 0.0));
    return narrow<int>(std::upper_bound(ends.begin(), ends.end(), drawn) - ends.begin());
}

/// Adds the squared distance between mean and mixture after 1, 2, 4, … draws to `squares`.
void repeat_draws(const std::vector<double>& ends, const Matrix& values, int draws, Draws& random,
                  HardDraws& out, std::vector<double>& squares, bool count) {
    Vector sum = Vector::Zero(values.cols());
    for (int n = 1, at = 0; n <= draws; ++n) {
        const int key = draw_key(ends, random);
        if (count) ++out.counts[key];
        sum += values.row(key).transpose();
        if (n == 1 << at) squares[at++] += (sum / float(n) - out.mixture).squaredNorm();
    }
}

}  // namespace

HardDraws draw_hard(std::span<const float> weights, const Matrix& values, int draws, unsigned seed) {
    HEADLIGHT_CHECK(isize(weights) == values.rows() && draws >= 1 && !weights.empty());
    const Eigen::Map<const Vector> a(weights.data(), isize(weights));
    HardDraws out{std::vector<int>(weights.size()), {}, values.transpose() * a};
    double variance = 0;
    for (int i = 0; i < isize(weights); ++i)
        variance += a[i] * (values.row(i).transpose() - out.mixture).squaredNorm();
    std::vector<double> squares;
    for (int n = 1; n <= draws && n > 0; n *= 2) squares.push_back(0);
    const std::vector<double> ends = cumulative(weights);
    Draws random(seed);
    for (int i = 0; i < kDrawRepetitions && ends.back() > 0; ++i)
        repeat_draws(ends, values, draws, random, out, squares, i == 0);
    for (int i = 0; i < isize(squares); ++i)
        out.errors.push_back(
            {1 << i, float(std::sqrt(squares[i] / kDrawRepetitions)), float(std::sqrt(variance / (1 << i)))});
    return out;
}

HardGradient hard_gradient(std::span<const float> weights, const Vector& rewards, int draws, unsigned seed) {
    HEADLIGHT_CHECK(isize(weights) == rewards.size() && draws >= 1 && !weights.empty());
    const Eigen::Map<const Vector> a(weights.data(), isize(weights));
    const float mean = a.dot(rewards);
    HardGradient out{a.cwiseProduct((rewards.array() - mean).matrix()), 0, 0, {}};
    const float squares = a.squaredNorm();
    for (Index i = 0; i < a.size(); ++i) {  // ‖eᵢ − a‖² = 1 − 2 aᵢ + Σ a²
        const float length = 1 - 2 * a[i] + squares, centered = rewards[i] - mean;
        out.variance += a[i] * rewards[i] * rewards[i] * length;
        out.baseline_variance += a[i] * centered * centered * length;
    }
    out.variance = std::max(0.0f, out.variance - out.exact.squaredNorm());
    out.baseline_variance = std::max(0.0f, out.baseline_variance - out.exact.squaredNorm());
    const std::vector<double> ends = cumulative(weights);
    if (!(ends.back() > 0)) return out;
    std::vector<double> errors;
    for (int n = 1; n <= draws && n > 0; n *= 2) errors.push_back(0);
    Draws random(seed);
    for (int repetition = 0; repetition < kDrawRepetitions; ++repetition) {
        Vector sum = Vector::Zero(a.size());
        for (int n = 1, at = 0; n <= draws; ++n) {
            const int key = draw_key(ends, random);
            sum -= rewards[key] * a;
            sum[key] += rewards[key];
            if (n == 1 << at) errors[at++] += (sum / float(n) - out.exact).squaredNorm();
        }
    }
    for (int i = 0; i < isize(errors); ++i)
        out.errors.push_back({1 << i, float(std::sqrt(errors[i] / kDrawRepetitions)),
                              std::sqrt(out.variance / float(1 << i)),
                              std::sqrt(out.baseline_variance / float(1 << i))});
    return out;
}

std::vector<float> weights_by_distance(const Matrix& weights, int half) {
    std::vector<float> out;
    for (int apart = -half; apart <= half; ++apart) {
        float sum = 0;
        int rows = 0;
        for (Index row = 0; row < weights.rows(); ++row) {
            const Index key = row + apart;
            if (key < 0 || key >= weights.cols() || std::isnan(weights(row, key))) continue;
            sum += weights(row, key);
            ++rows;
        }
        out.push_back(rows ? sum / float(rows) : 0);
    }
    return out;
}

std::vector<float> local_weights(std::span<const float> scores, const std::vector<bool>& allowed,
                                 const LocalWindow& window) {
    HEADLIGHT_CHECK(scores.size() == allowed.size());
    const auto inside = [&](int i) {
        return allowed[i] && std::abs(float(i) - window.center) <= float(window.half);
    };
    std::vector<float> out(scores.size());
    float max = -std::numeric_limits<float>::infinity(), sum = 0;
    for (int i = 0; i < isize(out); ++i)
        if (inside(i)) max = std::max(max, scores[i]);
    for (int i = 0; i < isize(out); ++i)
        if (inside(i)) sum += out[i] = std::exp(scores[i] - max);
    const float deviation = std::max(0.5f, float(window.half) / 2);
    for (int i = 0; i < isize(out) && sum > 0; ++i) {
        const float apart = (float(i) - window.center) / deviation;
        out[i] *= (window.gaussian ? std::exp(-apart * apart / 2) : 1.0f) / sum;
    }
    return out;
}

float predicted_center(const Vector& h, int keys, unsigned seed) {
    Draws random(seed);
    const double deviation = 1 / std::sqrt(double(std::max<Index>(1, h.size())));
    const Matrix w = normal_matrix(h.size(), h.size(), deviation, random),
                 v = normal_matrix(1, h.size(), deviation, random);
    const float a = (v * (w * h).array().tanh().matrix())(0, 0);
    return float(keys) / (1 + std::exp(-a));
}

bool strided_sees(int query, int key, int stride) {
    const int apart = std::abs(query - key);
    return apart < stride || apart % stride == 0;
}

}  // namespace headlight
