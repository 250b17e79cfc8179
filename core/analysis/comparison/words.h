// Sub-words joined into words.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/matrix.h"

namespace headlight {

/// Which word each token belongs to, counted from 0: pieces that follow a word's first without the
/// tokenizer's mark for a blank ("Ġ", "▁"), or with its mark for a continuation ("##"), belong to it.
/// Punctuation and special tokens stand alone.
std::vector<int> word_numbers(std::span<const std::string> tokens);

/// The labels of the words; a character in parts counts once.
std::vector<std::string> join_labels(std::span<const std::string> labels, std::span<const int> words);

/// A pattern [queries, keys] by words: the mean over a word's queries, the sum over its keys, so that rows
/// still sum to 1; −1 where all its cells are masked.
Matrix join_pattern(const Matrix& weights, std::span<const int> query_words, std::span<const int> key_words);

}  // namespace headlight
