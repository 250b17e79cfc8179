// Cuts most of an MLP's gate to 0 (Gemma 3n's activation sparsity): g ← max(g − t, 0), t = mean(g) + z σ(g)
// of each token, where z is the point of the normal distribution below which the wanted share of values lies.
#pragma once

#include "base/matrix.h"

namespace headlight {

/// Returns z with Φ(z) = share, of 0 < share < 1.
double normal_quantile(double share);

/// Cuts one token's gate in place; share: MlpSpec::sparsity, larger than 0.
void cut_gate(float share, Eigen::Ref<Eigen::ArrayXf> gate);

/// Maps the gradient by the cut gate, in place, to the one by the gate as it was.
void cut_gate_vjp(float share, const Eigen::Ref<const Eigen::ArrayXf>& gate,
                  Eigen::Ref<Eigen::ArrayXf> gradient);

}  // namespace headlight
