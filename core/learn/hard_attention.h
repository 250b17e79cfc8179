// Attention that chooses: one key by chance instead of a mixture of all (Xu et al. 2015), or keys near a
// place (Luong et al. 2015).
#pragma once

#include <span>
#include <vector>

#include "base/matrix.h"

namespace headlight {

/// How far the mean of N draws still is from the mixture.
struct DrawError {
    int draws = 0;
    float measured = 0;  // ‖mean − z‖, the root of the mean square over 16 repetitions
    float expected = 0;  // sqrt(Σ aᵢ ‖vᵢ − z‖² ÷ N)
};

struct HardDraws {
    std::vector<int> counts;        // [keys], how often each key was drawn, in the first repetition
    std::vector<DrawError> errors;  // at 1, 2, 4, … draws
    Vector mixture;                 // [d] z = Σ aᵢ vᵢ
};

/// Draws a key by its weight, so often, and takes its value alone: z is what the draws give on average.
/// weights: [keys], not negative, which sum to 1, or all 0 as a recorded row may be, of which nothing is
/// drawn; values: [keys, d]; draws: a power of two.
HardDraws draw_hard(std::span<const float> weights, const Matrix& values, int draws, unsigned seed);

/// Keys that a row sees: [first, last].
struct LocalWindow {
    float center = 0;  // p_t
    int half = 1;      // D: keys from center − D to center + D
    bool gaussian = false;
};

/// softmax over the allowed keys within the window, times exp(−(s − p)² ÷ 2σ²) with σ = D ÷ 2 where it is
/// gaussian, not made to sum to 1 again (Luong et al. 2015, equations 7 and 10). All zeros where no key is
/// left.
std::vector<float> local_weights(std::span<const float> scores, const std::vector<bool>& allowed,
                                 const LocalWindow& window);

/// p_t = S · sigmoid(vᵀ tanh(W h)), a place among S keys (Luong et al. 2015, equation 9), with W [d, d] and v
/// [d] drawn at random in place of learned ones: entries of variance 1 ÷ d.
float predicted_center(const Vector& h, int keys, unsigned seed);

/// Whether a query sees a key: one of the `stride` nearest, or one of every `stride` (Child et al. 2019).
bool strided_sees(int query, int key, int stride);

}  // namespace headlight
