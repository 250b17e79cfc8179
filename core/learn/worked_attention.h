// Computes one query of scaled dot-product attention (Vaswani et al. 2017) with every intermediate value.
#pragma once

#include "base/matrix.h"

namespace headlight {

struct WorkedInput {
    Matrix words;          // [n, d], one word per row
    Matrix m_q, m_k, m_v;  // [d, d_k], [d, d_k], [d, d_v]
    int query = 0;         // the word that asks
    bool divide = true;    // scores ÷ √d_k
};

struct WorkedAttention {
    Vector q;       // [d_k] = the query's word · m_q
    Matrix k, v;    // [n, d_k], [n, d_v] = words · m_k, words · m_v
    Vector dots;    // [n], q · k of each key
    Vector scores;  // [n], dots ÷ √d_k, or dots
    /// subtracted from every score before exp if one is beyond ±20, else 0; changes no weight
    float shift = 0;
    Vector powers;   // [n], exp(score − shift)
    float sum = 0;   // of the exponentials
    Vector weights;  // [n], powers ÷ sum
    Vector output;   // [d_v], Σ weight · value
};

WorkedAttention work_out(const WorkedInput& input);

/// ∂aᵢ / ∂sⱼ = aᵢ (1 if i = j, else 0) − aᵢ aⱼ: how each weight answers each score.
Matrix softmax_slopes(const Vector& weights);

}  // namespace headlight
