// Station "Attention without weights": V, scores V·Vᵀ, a normalizer, Y = A·V; and the embedding space.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

struct NoWeightsState {
    enum class Vectors { embeddings, contextual, by_hand } vectors = Vectors::by_hand;
    enum class Scores { plain, scaled, cosine } scores = Scores::plain;
    int normalizer = 0;          // softmax or sum: an index in normalizers()
    int layer = 4;               // contextual vectors: the output of this layer, counted from 1
    int shuffle = 0;             // 0: the words as typed; else the number of an order
    bool whole_words = true;     // a word's vector is the mean of its tokens'
    std::vector<float> by_hand;  // three numbers per word
    std::string near = "king, queen, zebra, horse, stripes, emotion";

    void visit(ControlVisitor& v);
};

/// Returns the word whose Y moves most toward the one from which it takes most, if no other gives as much.
std::optional<TellingCell> telling_move(const Trace& trace, std::optional<AttentionHead> chosen,
                                        ThreadPool& pool);

Result<Page> no_weights_page(const StationInput& input, const NoWeightsState& state, ThreadPool& pool);

/// Computes attention without weights (the first of the articles): every word attends to every other one.
struct PlainAttention {
    Matrix scores, weights;  // S, A [words, words]
    Matrix mixed;            // Y = A·V [words, d]
};
PlainAttention attend_plainly(const Matrix& vectors, NoWeightsState::Scores scores, int normalizer);

/// Returns the largest difference between an entry of Y after shuffling and the same word's entry before.
float change_by_shuffling(const Matrix& vectors, const std::vector<int>& order, NoWeightsState::Scores scores,
                          int normalizer);

}  // namespace headlight::learn
