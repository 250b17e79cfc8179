// Embeddings of each layer (Gemma 3n and 4): layer l reads a vector of its own of every token,
// p_l = (norm(W_l E / √d_model) + T_l[id] · √width) / √2, where E is the token's embedding, and adds
// norm(W_out (act(W_gate x) ∘ p_l)) to the stream x that its MLP leaves.
#pragma once

#include "model/backward/gradient_rows.h"
#include "model/pass.h"

namespace headlight {

/// [rows, layers · width]: p of all layers for the new tokens of a pass, given their embeddings. Tokens
/// behind the last row of T read row 0 (Gemma 3n).
Matrix layer_embeddings(const Pass& pass, ConstMatrixRef embeddings);

/// [n, width]: p of one layer.
Rows layer_embedding(const StackRun& run, int layer, const StackActivations& activations);

/// [rows, d_model]: what the layer adds to these rows x, given its p of them.
Matrix layer_embedding_output(const StackRun& run, int layer, ConstMatrixRef x, ConstMatrixRef p);

/// Holds gradients by x and by the embeddings E, in the same rows.
struct LayerEmbeddingGradients {
    Matrix x, embeddings;  // [rows, d_model]
};
/// Maps the gradient by that output to those by x[n, d_model] and E.
LayerEmbeddingGradients layer_embedding_vjp(const StackRun& run, int layer,
                                            const StackActivations& activations, const Matrix& x,
                                            const Matrix& gradient, const GradientRows& rows);

}  // namespace headlight
