// Decodes the matrices of one head, whatever their layout, and computes their singular values.
#pragma once

#include "model/head_weights.h"

namespace headlight {

/// Holds what one head reads and writes with, without biases. Rows are inputs: W_Q, W_K, W_V [d_model,
/// d_head]; W_O [d_head, d_model]. Heads that share a key/value head have the same k and v.
struct HeadMatrices {
    Matrix q, k, v, o;
};
/// Decodes them; the model must have weights.
HeadMatrices head_matrices(const Model& model, AttentionHead head);

/// W_V W_O [d_model, d_model]: holds a head's value matrix as the product of down (to d_head) and up.
struct ValueFactors {
    Matrix down;  // [d_model, d_head]
    Matrix up;    // [d_head, d_model]
};
ValueFactors value_factors(const Model& model, AttentionHead head);

/// Returns the singular values of down · up, descending: d_head of them, the highest rank of the product.
Vector singular_values(const ValueFactors& factors);

/// Returns the singular values of one matrix, descending; the smaller of its dimensions should be small.
Vector singular_values(const Matrix& matrix);

}  // namespace headlight
