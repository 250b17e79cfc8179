// Trains additive scores.
#include "learn/trained_scores.h"

#include <array>
#include <cmath>

#include "base/draws.h"

namespace headlight {

namespace {

/// Computes one query's loss and the gradient by its scores: a − t.
double row_loss(const Eigen::RowVectorXf& scores, const Eigen::Ref<const Eigen::RowVectorXf>& target,
                Eigen::RowVectorXf& slopes) {
    float largest = -INFINITY, sum = 0, all = 0;
    for (Index j = 0; j < scores.size(); ++j)
        if (!std::isnan(target[j])) largest = std::max(largest, scores[j]);
    for (Index j = 0; j < scores.size(); ++j)
        if (!std::isnan(target[j])) {
            sum += std::exp(scores[j] - largest);
            all += target[j];
        }
    double loss = 0;
    slopes = Eigen::RowVectorXf::Zero(scores.size());
    for (Index j = 0; j < scores.size() && sum > 0; ++j) {
        if (std::isnan(target[j])) continue;
        const float log_weight = scores[j] - largest - std::log(sum);
        loss -= double(target[j]) * double(log_weight);
        slopes[j] = all * std::exp(log_weight) - target[j];
    }
    return loss;
}

/// Holds Adam's running means of one parameter and its square.
struct Moments {
    Matrix mean, square;

    void step(float* values, const float* slopes, Index count, int number) {
        constexpr float kRate = 0.03f, kFirst = 0.9f, kSecond = 0.999f, kLeast = 1e-8f;
        if (mean.size() == 0) mean = square = Matrix::Zero(1, count);
        const float first = 1 - std::pow(kFirst, float(number)),
                    second = 1 - std::pow(kSecond, float(number));
        for (Index i = 0; i < count; ++i) {
            mean(0, i) += (1 - kFirst) * (slopes[i] - mean(0, i));
            square(0, i) += (1 - kSecond) * (slopes[i] * slopes[i] - square(0, i));
            values[i] -= kRate * mean(0, i) / first / (std::sqrt(square(0, i) / second) + kLeast);
        }
    }
};

}  // namespace

double additive_loss(const AdditiveScore& score, const Matrix& q, const Matrix& k, const Matrix& target,
                     AdditiveScore& slopes) {
    const Matrix of_query = q * score.of_query.transpose(), of_key = k * score.of_key.transpose();
    Matrix by_query = Matrix::Zero(q.rows(), score.v.size()), by_key = Matrix::Zero(k.rows(), score.v.size());
    const float share = 1 / float(q.rows());
    double loss = 0;
    for (Index i = 0; i < q.rows(); ++i) {
        const Matrix hidden = (of_key.rowwise() + of_query.row(i)).array().tanh();  // [keys, h]
        const Eigen::RowVectorXf scores = (hidden * score.v).transpose();
        Eigen::RowVectorXf by_score;
        loss += double(share) * row_loss(scores, target.row(i), by_score);
        by_score *= share;
        slopes.v += hidden.transpose() * by_score.transpose();
        Matrix by_hidden = by_score.transpose() * score.v.transpose();  // [keys, h]
        by_hidden.array() *= 1 - hidden.array().square();
        by_query.row(i) = by_hidden.colwise().sum();
        by_key += by_hidden;
    }
    slopes.of_query += by_query.transpose() * q;
    slopes.of_key += by_key.transpose() * k;
    return loss;
}

TrainedScore train_additive(const Matrix& q, const Matrix& k, const Matrix& target, int hidden, int steps,
                            unsigned seed) {
    Draws draws(seed);
    const Index d = q.cols();
    const double deviation = 1 / std::sqrt(double(d));
    TrainedScore out{{normal_matrix(hidden, d, deviation, draws), normal_matrix(hidden, d, deviation, draws),
                      normal_matrix(hidden, 1, 1 / std::sqrt(double(hidden)), draws).col(0)},
                     {}};
    std::array<Moments, 3> moments;
    for (int step = 0; step <= steps; ++step) {
        AdditiveScore slopes{Matrix::Zero(hidden, d), Matrix::Zero(hidden, d), Vector::Zero(hidden)};
        out.losses.push_back(float(additive_loss(out.score, q, k, target, slopes)));
        if (step == steps) break;
        moments[0].step(out.score.of_query.data(), slopes.of_query.data(), slopes.of_query.size(), step + 1);
        moments[1].step(out.score.of_key.data(), slopes.of_key.data(), slopes.of_key.size(), step + 1);
        moments[2].step(out.score.v.data(), slopes.v.data(), slopes.v.size(), step + 1);
    }
    return out;
}

}  // namespace headlight
