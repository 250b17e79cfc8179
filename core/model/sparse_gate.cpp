// Cuts most of an MLP's gate to 0.
#include "model/sparse_gate.h"

#include <cmath>

#include "base/check.h"

namespace headlight {

namespace {

using GateValues = Eigen::Ref<const Eigen::ArrayXf>;

/// Holds the mean and the deviation of a gate, and the threshold that follows.
struct GateCut {
    float mean, deviation, z;
    GateCut(float share, const GateValues& gate)
        : mean(gate.mean()),
          deviation(std::sqrt((gate - mean).square().mean())),
          z(float(normal_quantile(double(share)))) {}
    float threshold() const { return mean + deviation * z; }
};

}  // namespace

// Newton's steps from 0 never pass the solution, because Φ bends toward its ends.
double normal_quantile(double share) {
    constexpr int kMaxSteps = 1000;
    constexpr double kDensity = M_2_SQRTPI / 2 * M_SQRT1_2;  // φ(0)
    HEADLIGHT_CHECK(share > 0 && share < 1);
    double z = 0;
    for (int i = 0; i < kMaxSteps; ++i) {
        const double below = std::erfc(-z * M_SQRT1_2) / 2, slope = kDensity * std::exp(-z * z / 2),
                     step = (below - share) / slope;
        z -= step;
        if (std::abs(step) < 1e-12) break;
    }
    return z;
}

void cut_gate(float share, Eigen::Ref<Eigen::ArrayXf> gate) {
    const float threshold = GateCut(share, gate).threshold();
    gate = (gate - threshold).max(0.0f);
}

// t moves with each value: ∂t/∂g_i = 1/n + z (g_i − mean) / (n σ).
void cut_gate_vjp(float share, const GateValues& gate, Eigen::Ref<Eigen::ArrayXf> gradient) {
    const GateCut cut(share, gate);
    gradient *= (gate > cut.threshold()).cast<float>();
    const float by_threshold = gradient.sum() / float(gate.size());
    gradient -= by_threshold;
    if (cut.deviation > 0) gradient -= by_threshold * cut.z / cut.deviation * (gate - cut.mean);
}

}  // namespace headlight
