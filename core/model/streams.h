// Carries several streams through a stack (AltUp: Baykal et al. 2023; Gemma 3n). Rows hold the K streams
// x_0 … x_(K−1) side by side: [n, K · d_model]. A layer computes with one of them, the active x_a, and moves
// the others by a few coefficients for each token:
//   enter    x_0 = E, x_i = P_i E · rms(E) / rms(P_i E), E: the embeddings
//   predict  x̂_i = x_i + Σ_j (W_predict r(x_a))_ij x_j, r(x) = tanh(W_router norm(x) / d_model)
//   correct  x_i ← x̂_i + (1 + (W_correct r(y))_i) (y − x̂_a), y: what attention and MLP leave of x̂_a
//   leave    x = (x_0 + Σ_i U_i x_i · rms(x_0) / rms(U_i x_i)) / K, which the final norm reads
// In between, an embedding of the layer reads x_a and adds to all streams but x_0 (layer_embedding.h). So
// resid_pre is x̂_a, resid_post x_a as corrected, with what was added.
#pragma once

#include "model/backward/gradient_rows.h"
#include "model/pass.h"

namespace headlight {

/// [n, K · d_model]: the streams of new tokens, of their embeddings.
Matrix enter_streams(const StackRun& run, const Matrix& embeddings);
/// [rows, d_model]: what is left of the streams.
Matrix leave_streams(const StackRun& run, const Matrix& streams);

/// [rows, K · d_model]: the streams as a layer predicts them.
Matrix predict_streams(const StackRun& run, int layer, const Matrix& streams);
/// Corrects predicted streams, in place, by what the layer left[rows, d_model] of the active one.
void correct_streams(const StackRun& run, int layer, const Matrix& left, Matrix& predicted);
/// [rows, d_model]: what the layer's embedding reads of corrected streams.
Matrix read_by_embedding(const StackRun& run, int layer, const Matrix& streams);
/// Adds what it puts out to all streams but the first.
void add_beside(const StackRun& run, const Matrix& added, Matrix& streams);

/// Returns the columns of the active stream.
inline auto active_stream(const StackRun& run, Matrix& streams) {
    const Index d = run.config().d_model;
    return streams.middleCols(run.stack.streams->active * d, d);
}
inline auto active_stream(const StackRun& run, const Matrix& streams) {
    const Index d = run.config().d_model;
    return streams.middleCols(run.stack.streams->active * d, d);
}
Rows active_stream(const ModelConfig& config, const StackConfig& stack, const Rows& streams);

// ---- Vector–Jacobian products, each of gradients at these rows of all tokens
/// Map the gradient by the first of these functions' outputs to the one by its input.
Matrix enter_streams_vjp(const StackRun& run, const Matrix& embeddings, const Matrix& gradient,
                         const GradientRows& rows);
Matrix leave_streams_vjp(const StackRun& run, const Matrix& streams, const Matrix& gradient,
                         const GradientRows& rows);
Matrix predict_streams_vjp(const StackRun& run, int layer, const Matrix& streams, Matrix gradient,
                           const GradientRows& rows);
/// Maps the gradient by corrected streams, in place, to the one by the predicted; returns the one by what the
/// layer left.
Matrix correct_streams_vjp(const StackRun& run, int layer, const Matrix& left, const Matrix& predicted,
                           Matrix& gradient, const GradientRows& rows);
/// Adds the gradient by read_by_embedding to the one by the streams.
void read_by_embedding_vjp(const StackRun& run, int layer, const Matrix& gradient, Matrix& by_streams);
/// [rows, d_model]: by what add_beside adds.
Matrix add_beside_vjp(const StackRun& run, const Matrix& gradient);

}  // namespace headlight
