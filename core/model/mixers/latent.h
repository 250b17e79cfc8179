// Computes q, k and v of latent attention (DeepSeek-AI 2024, "DeepSeek-V2", section 2.1), which keeps one
// narrow row per token, the latent c. What follows them, scores to W_O, is attention as elsewhere:
//   q = W_q x, or W_q norm(W_qa x);   [c, s] = W_kva x;   [own, v] of each head = W_kvb norm(c);
//   k = [own, s], whose last components s all heads share. The last components of q and k are rotated.
#pragma once

#include <span>

#include "model/model.h"

namespace headlight {

/// Added to the mean square by the norms of latents, in all classes of transformers.
inline constexpr float kLatentNormEps = 1e-6f;

/// Holds q [rows, heads · d_head], k [rows, kv_heads · d_head] and v [rows, kv_heads · d_value].
struct QueryKeyValue {
    Matrix q, k, v;
};

/// Projects x[rows, d_model] to q, k and v of all heads, not rotated.
QueryKeyValue latent_heads(const ModelConfig& config, const AttentionSpec& spec, const AttentionWeights& w,
                           ConstMatrixRef x, ThreadPool& pool);

/// [rows, d_model]: from the gradient by q, before its rotation, to the one by x; `tokens`: the row of x for
/// each row of the gradient.
Matrix latent_queries_vjp(const ModelConfig& config, const AttentionWeights& w, ConstMatrixRef x,
                          ConstMatrixRef by_q, std::span<const int> tokens, ThreadPool& pool);
/// [rows, d_model]: likewise from the gradients by k, before its rotation, and v.
Matrix latent_keys_vjp(const ModelConfig& config, const AttentionSpec& spec, const AttentionWeights& w,
                       ConstMatrixRef x, ConstMatrixRef by_k, ConstMatrixRef by_v,
                       std::span<const int> tokens, ThreadPool& pool);

/// Says which projection of the residual stream: to queries, keys or values.
enum class HeadPart { q, k, v };

/// Holds y = x · weight + bias; weight: [d_model, width]. bias empty: none.
struct HeadProjection {
    Matrix weight;
    Vector bias;
};

/// Describes how one head's q, k or v is made: [up · norm(down x), direct · x].
struct LatentPath {
    Linear down;    // d_model → rank; absent: everything is direct
    Norm norm;      // [rank]
    Linear up;      // rank → the first components
    Linear direct;  // d_model → the last components; absent: none

    Index width() const { return up.out + direct.out; }
};
/// Returns the path of a head; the model must have the weights, and outlive it.
LatentPath latent_path(const AttentionSpec& spec, const AttentionWeights& w, Index head, HeadPart part);

/// [rows, width]: projects x[rows, d_model], not rotated.
Matrix project_path(const ModelConfig& config, const LatentPath& path, ConstMatrixRef x, ThreadPool& pool,
                    bool biased);

/// Returns what the latent's norm divides by at x[1, d_model]; 1: nothing is divided.
float latent_size(const ModelConfig& config, const LatentPath& path, ConstMatrixRef x, ThreadPool& pool);
/// Multiplies the path out into one matrix. The weight of the latent's norm is folded in, and so is its
/// division, by `size`: exact where the latent has that size, without the division if it is 1.
HeadProjection absorbed(const LatentPath& path, float size = 1);

}  // namespace headlight
