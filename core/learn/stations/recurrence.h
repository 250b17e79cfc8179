// Measures what two small recurrent networks, with and without attention, repeat of a sentence, by length.
#pragma once

#include "learn/page.h"
#include "learn/recurrent.h"

namespace headlight::learn {

/// Holds the mean probability of a word that is repeated, over pieces of so many words.
struct RepeatedLength {
    int words = 0;
    float without = 0, attention = 0;              // geometric over a piece, then the mean of all pieces
    float without_error = 0, attention_error = 0;  // standard errors
};
/// Measures both on pieces of the sixty held-out sentences, one after the other.
std::vector<RepeatedLength> repeated_by_length(const RecurrentPair& pair);

/// Returns z, the last state; both curves against length, p of each word of the sentence, what the last state
/// keeps of each word, and one sentence with these numbers. Long: the article's sentence of 97 words in place
/// of `text`.
Result<std::vector<Block>> recurrence_blocks(const std::string& text, bool long_one);

}  // namespace headlight::learn
