// Finds which words are near which in a model's embedding table.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"

namespace headlight {

struct Neighbor {
    int id = 0;
    float cosine = 0;
};

/// Returns, for each of some vectors [vectors, d], the `count` rows of an embedding table [vocab, d] with the
/// largest cosine, both seen from `center`; nearest first; leaves out zero rows. Reads every row once for all
/// vectors, on all threads.
std::vector<std::vector<Neighbor>> nearest_rows(const Linear& table, const Matrix& to, const Vector& center,
                                                int count, ThreadPool& pool);

/// Returns the mean of a table's rows.
Vector mean_row(const Linear& table, ThreadPool& pool);

/// Returns the rows of a table [vocab, d] with these ids.
Matrix table_rows(const Linear& table, const std::vector<int>& ids);

/// Says for each of the first `count` tokens whether it stands for a whole word: it begins one, has letters
/// alone, and, where tokens come of merging, no longer token that begins with it came into the vocabulary
/// before it or soon after (within 15 % of its rank): "holid" beside "holiday" is a leftover.
std::vector<bool> whole_words(const Tokenizer& tokenizer, int count);

/// Tokenizes a word as in the middle of a text, without special tokens. Fails without a tokenizer or tokens.
Result<std::vector<int>> ids_of_word(const Model& model, const std::string& word);

}  // namespace headlight
