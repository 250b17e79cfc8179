// Trains an additive score, vᵀ tanh(W₁ q + W₂ k), to look where given weights look (Bahdanau et al. 2014).
#pragma once

#include <vector>

#include "base/matrix.h"

namespace headlight {

/// Holds the small network: hidden width h.
struct AdditiveScore {
    Matrix of_query, of_key;  // W₁, W₂ [h, d]
    Vector v;                 // [h]
};

/// Returns the mean over queries of −Σ t log a, in nats, for a = softmax of the scores over the keys that
/// `target` [queries, keys] gives a weight (not NaN), and adds its gradient to `slopes`, of the same shapes.
double additive_loss(const AdditiveScore& score, const Matrix& q, const Matrix& k, const Matrix& target,
                     AdditiveScore& slopes);

struct TrainedScore {
    AdditiveScore score;
    std::vector<float> losses;  // before each step, and after the last
};

/// Starts at random and takes steps of Adam (Kingma and Ba 2015) down that gradient.
TrainedScore train_additive(const Matrix& q, const Matrix& k, const Matrix& target, int hidden, int steps,
                            unsigned seed);

}  // namespace headlight
