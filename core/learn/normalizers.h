// What turns scores into weights.
#pragma once

#include <span>

#include "base/matrix.h"

namespace headlight {

enum class RowNormalizer { softmax, sum, sparsemax, hard };

/// A row of the table of normalizers.
struct NormalizerKind {
    const char *key, *title, *formula, *source;
    /// The weights of scores that are all finite and at least one.
    Vector (*weights)(const Vector& scores);
};

/// In the order of RowNormalizer.
std::span<const NormalizerKind> normalizers();

/// wᵢ = exp(sᵢ) / Σⱼ exp(sⱼ).
Vector softmax_weights(const Vector& scores);
/// wᵢ = sᵢ / Σⱼ sⱼ: negative where a score's sign is not that of the sum; NaN where the sum is 0.
Vector sum_weights(const Vector& scores);
/// wᵢ = max(sᵢ − τ, 0), τ chosen so that they sum to 1: the nearest point of the simplex, with exact zeros
/// (Martins and Astudillo 2016, algorithm 1).
Vector sparsemax_weights(const Vector& scores);
/// 1 at the largest score, of equal ones at the first.
Vector hard_weights(const Vector& scores);

/// Each row of scores [queries, keys] normalized by itself. A score that is NaN is masked: its weight is 0; a
/// row where all are masked is 0.
Matrix normalize_rows(const NormalizerKind& normalizer, const Matrix& scores);

/// Σ −w log₂ w over the positive weights of a row, in bits; NaN where the weights are no probabilities.
float entropy_bits(const Vector& weights);

/// The share of a square matrix's squared length that changes its sign when it is transposed: 0 where it is
/// symmetric, 1 where it is antisymmetric, about ½ where its entries have nothing to do with one another.
/// S = (S + Sᵀ)/2 + (S − Sᵀ)/2 are at right angles, so it is ‖(S − Sᵀ)/2‖² / ‖S‖². 0 of no length.
float asymmetry(const Matrix& s);

}  // namespace headlight
