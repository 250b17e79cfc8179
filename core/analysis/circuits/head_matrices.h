// The matrices of one head as they are stored, whatever their layout, and how strongly they stretch.
#pragma once

#include "model/model.h"

namespace headlight {

/// What one head reads and writes with, without biases. Rows are inputs: W_Q, W_K, W_V [d_model, d_head];
/// W_O [d_head, d_model]. Heads that share a key/value head have the same k and v.
struct HeadMatrices {
    Matrix q, k, v, o;
};
/// Read from the weights of a model that has some.
HeadMatrices head_matrices(const Model& model, AttentionHead head);

/// The weights of an attention block.
const AttentionWeights& weights_of(const Model& model, int block);

/// Inputs [first, first + count) of a matrix, decoded: [count, w.out].
Matrix input_rows(const Linear& w, Index first, Index count);

/// A head's value matrix W_V W_O [d_model, d_model] as it is stored: the product of what brings a token down
/// to d_head numbers and what takes these up again.
struct ValueFactors {
    Matrix down;  // [d_model, d_head]
    Matrix up;    // [d_head, d_model]
};
ValueFactors value_factors(const Model& model, AttentionHead head);

/// The singular values of down · up, largest first: d_head of them, because the product has no higher rank.
Vector singular_values(const ValueFactors& factors);

/// The singular values of one matrix, largest first; the fewer of its rows and columns should be few.
Vector singular_values(const Matrix& matrix);

}  // namespace headlight
