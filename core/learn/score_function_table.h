// Computes the score functions of the articles, on the same q and k.
#pragma once

#include <cstdint>
#include <span>

#include "base/matrix.h"

namespace headlight {

enum class ScoreFunction { dot, scaled_dot, general, additive, location, cosine, kernel };

/// Holds learned and given parameters of score functions.
struct ScoreParameters {
    Matrix general;           // W [d, d]
    Matrix of_query, of_key;  // W₁, W₂ [d, d]: W of the additive score, split into its parts for q and k
    Vector additive;          // v [d]
    Matrix location;          // W [keys, d]: one row per position
    float sharpness = 5;      // β of the cosine
    float width = 0;          // σ of the kernel; 0: √d

    /// Draws parameters at random, for lack of trained ones: W of the general score near the identity (I plus
    /// noise of deviation 1 / 2√d), v of length 2, the rest of deviation 1/√d. The row of a position depends
    /// neither on the words nor on their number.
    static ScoreParameters random(Index d, Index keys, uint32_t seed);
};

struct ScoreKind {
    const char *key, *title, *formula, *source;
    /// [queries, keys] for q [queries, d] and k [keys, d].
    Matrix (*scores)(ConstMatrixRef q, ConstMatrixRef k, const ScoreParameters& p);
};

/// Follows the order of ScoreFunction.
std::span<const ScoreKind> score_functions();

/// Counts what one function costs for n queries, m keys of width d and an additive score's hidden width h.
struct ScoreCost {
    int64_t products = 0;  // multiplications, each with an addition
    int64_t tanhs = 0;
    int64_t kept = 0;  // numbers that a backward pass needs: scores, and each pair's hidden numbers
};
/// n m d products; n m scores.
ScoreCost dot_cost(int64_t n, int64_t m, int64_t d);
/// (n + m) d h for W₁ q and W₂ k, n m h for v; n m h hyperbolic tangents.
ScoreCost additive_cost(int64_t n, int64_t m, int64_t d, int64_t h);

/// q · k.
Matrix dot_scores(ConstMatrixRef q, ConstMatrixRef k);
/// q · k / √d, d: the columns of q.
Matrix scaled_dot_scores(ConstMatrixRef q, ConstMatrixRef k);
/// q · k / (‖q‖ ‖k‖), −1 … 1; 0 if either is 0.
Matrix cosines(ConstMatrixRef q, ConstMatrixRef k);
/// ‖q − k‖².
Matrix squared_distances(ConstMatrixRef q, ConstMatrixRef k);

}  // namespace headlight
