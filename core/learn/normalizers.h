// Defines functions that turn scores into weights.
#pragma once

#include <span>

#include "base/matrix.h"

namespace headlight {

enum class RowNormalizer { softmax, sum, sparsemax, hard };

struct NormalizerKind {
    const char *key, *title, *formula, *source;
    /// Computes the weights of at least one score, all finite.
    Vector (*weights)(const Vector& scores);
};

/// Follows the order of RowNormalizer.
std::span<const NormalizerKind> normalizers();

/// wᵢ = exp(sᵢ) / Σⱼ exp(sⱼ).
Vector softmax_weights(const Vector& scores);
/// wᵢ = sᵢ / Σⱼ sⱼ: negative if a score's sign is not that of the sum; NaN if the sum is 0.
Vector sum_weights(const Vector& scores);
/// wᵢ = max(sᵢ − τ, 0), with τ such that they sum to 1: the nearest point of the simplex, with exact zeros
/// (Martins and Astudillo 2016, algorithm 1).
Vector sparsemax_weights(const Vector& scores);
/// 1 at the largest score, the first of equal ones.
Vector hard_weights(const Vector& scores);

/// Normalizes each row of scores [queries, keys]. NaN scores are masked: weight 0; a fully masked row is 0.
Matrix normalize_rows(const NormalizerKind& normalizer, const Matrix& scores);

/// Σ −w log₂ w over the positive weights of a row, in bits; NaN if the weights are not probabilities.
float entropy_bits(const Vector& weights);

/// ‖(S − Sᵀ)/2‖² / ‖S‖²: the share of a square matrix's squared norm that transposing negates. 0 if
/// symmetric, 1 if antisymmetric, about ½ if its entries are unrelated; S = (S + Sᵀ)/2 + (S − Sᵀ)/2 is an
/// orthogonal sum. 0 if S is 0.
float asymmetry(const Matrix& s);

}  // namespace headlight
