// The two sides of a head's circuits, token by token: what a stream that holds a token's embedding alone
// would give to the head, behind the norms that it meets.
#pragma once

#include <string>
#include <vector>

#include "analysis/circuits/head_matrices.h"
#include "model/forward.h"

namespace headlight {

/// [d_model, d_head]: what a head reads with, seen from the residual stream: the gain of the norm before the
/// block, and the mean that LayerNorm takes away, are in it (of post-norm models there is none); of keys and
/// values of cross-attention those of the encoder's final norm. `with`: W_Q, W_K or W_V.
Matrix read_through(const Model& model, int block, bool keys, const Matrix& with);
/// [d_head, d_model]: W_O with the gain of the norm behind it, where there is one (Gemma 2).
Matrix written_through(const Model& model, int block, const Matrix& output);

/// Why a model's heads have no circuits over a vocabulary, or a head none to its logits; "": they have.
std::string missing_qk(const Model& model);
std::string missing_ov(const Model& model, AttentionHead head);

/// [vocab, d_head] of one head for each token of its queries' (keys') vocabulary: embedding, norm with the
/// embedding's own scale, W_Q (W_K, W_V), norm of q and k where there is one. Queries are multiplied by the
/// model's scale of scores.
struct TokenSides {
    Matrix queries, keys, values;
};
enum TokenSide : unsigned { kQueries = 1, kKeys = 2, kValues = 4 };
/// Those that are asked for; the vocabulary is embedded and normed once for all that read it alike. Throws a
/// Failure where memory has no room for them.
TokenSides token_sides(const Model& model, AttentionHead head, unsigned wanted, ThreadPool& pool);

/// [vocab of the logits, d_head]: what each entry of a head's z gives to each logit, through W_O, the final
/// norm's gain (without its scale) and the unembedding.
Matrix output_logits(const Model& model, AttentionHead head, ThreadPool& pool);

/// A text in which every token has the mean embedding of the vocabulary, so that patterns come of positions
/// alone (of all schemes); at most 64 tokens. It is made when the first head asks, and kept for the others.
class AverageText {
public:
    explicit AverageText(const Model& model) : model_(model) {}
    /// The mean weight on the token before, over the queries. NaN for cross-attention and pictures.
    float previous_token_score(AttentionHead head, ThreadPool& pool);

private:
    void make(int tokens, ThreadPool& pool);

    const Model& model_;
    std::vector<std::vector<LayerRules>> rules_;
    std::vector<Matrix> embeddings_;  // of each stack
};

}  // namespace headlight
