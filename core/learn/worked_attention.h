// One query of scaled dot-product attention with every number on the way (Vaswani et al. 2017), small enough
// to follow with a pencil.
#pragma once

#include "base/matrix.h"

namespace headlight {

struct WorkedInput {
    Matrix words;          // [n, d], one word a row
    Matrix m_q, m_k, m_v;  // [d, d_k], [d, d_k], [d, d_v]
    int query = 0;         // the word that asks
    bool divide = true;    // scores ÷ √d_k
};

struct WorkedAttention {
    Vector q;         // [d_k] = the query's word · m_q
    Matrix k, v;      // [n, d_k], [n, d_v] = words · m_k, words · m_v
    Vector dots;      // [n], q · k of each key
    Vector scores;    // [n], dots ÷ √d_k, or the dots
    float shift = 0;  // taken from every score before exp where one is beyond ±20, else 0; changes no weight
    Vector powers;    // [n], exp(score − shift)
    float sum = 0;    // of the powers
    Vector weights;   // [n], powers ÷ sum
    Vector output;    // [d_v], Σ weight · value
};

WorkedAttention work_out(const WorkedInput& input);

}  // namespace headlight
