// Computes the two sides of a head's circuits, token by token: what a stream that holds only a token's
// embedding gives to the head, after its norms.
#pragma once

#include <string>
#include <vector>

#include "analysis/circuits/head_matrices.h"
#include "model/forward.h"

namespace headlight {

/// [d_model, d_head]: what a head reads with, seen from the residual stream: includes the weight of the
/// pre-norm and LayerNorm's subtraction of the mean (none in post-norm models); for keys and values of
/// cross-attention those of the encoder's final norm. `with`: W_Q, W_K or W_V.
Matrix read_through(const Model& model, int block, bool keys, const Matrix& with);
/// [d_head, d_model]: W_O with the weight of the block's post-norm, if there is one (Gemma 2).
Matrix written_through(const Model& model, int block, const Matrix& output);

/// Explain why a model's heads have no circuits over a vocabulary, or a head none to the logits; "": have.
std::string missing_qk(const Model& model, AttentionHead head);
std::string missing_ov(const Model& model, AttentionHead head);

/// [vocab, d_head] of one head for each token of its queries' (keys') vocabulary: embedding, norm with the
/// embedding's own scale, W_Q (W_K, W_V), norm of q and k if there is one. Queries include the model's scale
/// of scores.
struct TokenSides {
    Matrix queries, keys, values;
};
enum TokenSide : unsigned { kQueries = 1, kKeys = 2, kValues = 4 };
/// Computes the requested sides; embeds and norms the vocabulary once for all that read it alike. Throws
/// Failure if memory is short.
TokenSides token_sides(const Model& model, AttentionHead head, unsigned wanted, ThreadPool& pool);

/// [vocab of the logits, d_head]: what each entry of a head's z adds to each logit, through W_O, the final
/// norm's weight (without its scale) and the unembedding.
Matrix output_logits(const Model& model, AttentionHead head, ThreadPool& pool);

/// Runs a text in which every token has the mean embedding of the vocabulary, so that patterns follow from
/// positions alone (for all schemes); at most 64 tokens. Runs when the first head needs it, and keeps the
/// trace for the others.
class AverageText {
public:
    explicit AverageText(const Model& model) : model_(model) {}
    /// Averages the weight on the previous token over the queries. NaN for cross-attention and images.
    float previous_token_score(AttentionHead head, ThreadPool& pool);

private:
    void make(int tokens, ThreadPool& pool);

    const Model& model_;
    std::vector<std::vector<LayerRules>> rules_;
    std::vector<Matrix> embeddings_;  // of each stack
};

}  // namespace headlight
