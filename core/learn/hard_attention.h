// Attends by choice: to one key at random (Xu et al. 2015), or to keys near a position (Luong et al. 2015).
#pragma once

#include <span>
#include <vector>

#include "base/matrix.h"

namespace headlight {

/// Holds the distance between the mean of N draws and the mixture.
struct DrawError {
    int draws = 0;
    float measured = 0;  // ‖mean − z‖, root mean square over 16 repetitions
    float expected = 0;  // sqrt(Σ aᵢ ‖vᵢ − z‖² ÷ N)
};

struct HardDraws {
    std::vector<int> counts;        // [keys], how often each key was drawn in the first repetition
    std::vector<DrawError> errors;  // at 1, 2, 4, … draws
    Vector mixture;                 // [d] z = Σ aᵢ vᵢ
};

/// Draws keys by their weights and averages their values, whose expectation is z. weights: [keys],
/// nonnegative, summing to 1, or all 0 (a recorded row may be), in which case nothing is drawn; values:
/// [keys, d]; draws: a power of two.
HardDraws draw_hard(std::span<const float> weights, const Matrix& values, int draws, unsigned seed);

/// Holds the error of REINFORCE's estimate of a gradient (Williams 1992) after N draws.
struct GradientError {
    int draws = 0;
    float measured = 0;  // ‖estimate − exact‖, root mean square over 16 repetitions
    float expected = 0;  // √(variance ÷ N)
    float baseline = 0;  // the same with the mean reward as baseline
};

/// Compares the gradient of the mean reward Σ aⱼ rⱼ by the scores, for hard attention that draws key i with
/// probability aᵢ = softmax(s)ᵢ.
struct HardGradient {
    Vector exact;  // [keys] aⱼ (rⱼ − r̄), which soft attention has in one pass
    /// E ‖estimate − exact‖² of one draw i, whose estimate is rᵢ (eᵢ − a); with rᵢ − r̄ in place of rᵢ.
    float variance = 0, baseline_variance = 0;
    std::vector<GradientError> errors;  // at 1, 2, 4, … draws; empty if nothing can be drawn
};
HardGradient hard_gradient(std::span<const float> weights, const Vector& rewards, int draws, unsigned seed);

/// Holds the keys that a row attends to: [first, last].
struct LocalWindow {
    float center = 0;  // p_t
    int half = 1;      // D: keys from center − D to center + D
    bool gaussian = false;
};

/// Computes softmax over the allowed keys within the window, times exp(−(s − p)² ÷ 2σ²) with σ = D ÷ 2 if
/// gaussian, without renormalizing (Luong et al. 2015, equations 7 and 10). All zeros if no key is left.
std::vector<float> local_weights(std::span<const float> scores, const std::vector<bool>& allowed,
                                 const LocalWindow& window);

/// [2 · half + 1]: the mean weight at each distance −half … half, over the rows that have such a key: the
/// fixed weights of a convolution of the same reach. weights: [rows, keys], NaN where masked.
std::vector<float> weights_by_distance(const Matrix& weights, int half);

/// p_t = S · sigmoid(vᵀ tanh(W h)), a position among S keys (Luong et al. 2015, equation 9), with random W
/// [d, d] and v [d] instead of learned ones: entries of variance 1 ÷ d.
float predicted_center(const Vector& h, int keys, unsigned seed);

/// Returns whether a query attends to a key: the `stride` nearest, or every `stride`-th (Child et al. 2019).
bool strided_sees(int query, int key, int stride);

}  // namespace headlight
