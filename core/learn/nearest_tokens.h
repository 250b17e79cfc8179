// The space of embeddings: which words lie near which in a model's table.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"

namespace headlight {

struct Neighbor {
    int id = 0;
    float cosine = 0;
};

/// For each of some vectors [vectors, d], the `count` rows of an embedding table [vocab, d] with the largest
/// cosine to it, nearest first; rows of no length are left out. Every row is read once for all vectors, on
/// all threads.
std::vector<std::vector<Neighbor>> nearest_rows(const Linear& table, const Matrix& to, int count,
                                                ThreadPool& pool);

/// The rows of a table [vocab, d] with these ids.
Matrix table_rows(const Linear& table, const std::vector<int>& ids);

/// A word as the model reads it in the middle of a text: its ids without special tokens. Fails where the
/// model has no tokenizer, or the word has no token.
Result<std::vector<int>> ids_of_word(const Model& model, const std::string& word);

}  // namespace headlight
