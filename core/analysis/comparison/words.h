// Joins sub-words into words.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/matrix.h"

namespace headlight {

/// Returns the word of each token, counted from 0: a piece without the tokenizer's mark for a space ("Ġ",
/// "▁"), or with its mark for a continuation ("##"), belongs to the word before it. Punctuation and special
/// tokens are separate.
std::vector<int> word_numbers(std::span<const std::string> tokens);

/// Joins the labels of words; a character in parts counts once.
std::vector<std::string> join_labels(std::span<const std::string> labels, std::span<const int> words);

/// Joins a pattern [queries, keys] by words: averages a word's queries, sums its keys, so that rows still sum
/// to 1; kMasked if all cells are masked.
Matrix join_pattern(const Matrix& weights, std::span<const int> query_words, std::span<const int> key_words);

}  // namespace headlight
