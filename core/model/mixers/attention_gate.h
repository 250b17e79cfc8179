// Gates what an attention block writes: z ⊙ f(x W) before W_O, with f = σ (Qiu et al. 2025), softplus or
// SiLU, and norms z around it where the model does so. z itself stays pattern · v.
#pragma once

#include <span>

#include "base/matrix.h"
#include "model/model.h"

namespace headlight {

/// Holds the gate of one block.
struct Gate {
    const AttentionGate& spec;
    const float* norm_weights = nullptr;  // [width of z], or [width of a part] that all share
    float eps = 0;                        // of the norms
};
Gate gate_of(const ModelConfig& config, const AttentionSpec& spec, const AttentionWeights& weights);

/// Returns the factors that scores x W [rows, heads or heads · d_value] become.
Matrix gate_factors(const AttentionGate& gate, ConstMatrixRef scores);

/// Returns what multiplies each component of z[1, heads · d_value] at a query: its factors, with the sizes by
/// which the norms divide there, so that parts of z may be gated apart.
Eigen::RowVectorXf gate_multipliers(const Gate& gate, const AttentionActivations& a, Index query,
                                    ConstMatrixRef z);

/// Multiplies z [rows, heads · d_value] of the queries from `first` on by their factors, and norms it; does
/// nothing if the block has no gate.
void apply_gate(ThreadPool& pool, const Gate& gate, const AttentionActivations& a, Index first, MatrixRef z);

/// Maps the gradient by gated z, d [rows, heads · d_value], to those by z, in place, and by the scores, which
/// it returns; z of all tokens, `tokens`: the token of each row of d.
Matrix gate_vjp(const Gate& gate, const AttentionActivations& a, const Matrix& z, std::span<const int> tokens,
                MatrixRef d);

}  // namespace headlight
