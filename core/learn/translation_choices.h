// Finds what a translator's choices depend on: the gender of an article, the referent of "it", dropped words.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/prediction/generate.h"

namespace headlight {

/// Holds a source and the model's greedy translation, reread as a whole.
struct Translated {
    std::shared_ptr<const Trace> trace;  // its decoder read all written tokens except the last
    std::vector<int> ids;                // as written, with the end token if it came
    std::string text;
    std::vector<std::string> source, written;  // labels of the source's tokens and of `ids`
};
Result<Translated> translate(const std::shared_ptr<const Model>& model, const Sequence& source,
                             ThreadPool& pool, const CancelFlag* cancel);
Result<Translated> translate(const std::shared_ptr<const Model>& model, const std::string& text,
                             ThreadPool& pool, const CancelFlag* cancel);

struct WordChoice {
    int row = 0;                       // row of the decoder that chose it
    std::vector<std::string> words;    // "der", "die", "das", capitalized like the written one: "Der"
    std::vector<float> probabilities;  // of each
    int chosen = 0;                    // index among the words
    int rests_on = -1;                 // source token without which the chosen word is least probable
    float without = 0;                 // its probability then
};

/// Finds where one of the words (in lower case) was written, with the probabilities of all of them; masks the
/// source tokens one by one from encoder and cross-attention, to find the one on which the choice depends.
Result<std::vector<WordChoice>> word_choices(const Translated& translated,
                                             const std::vector<std::string>& words, ThreadPool& pool,
                                             const CancelFlag* cancel);

/// Returns for each source token the largest weight of any written token in a cross-attention head.
Vector most_looked_at(const Matrix& pattern);

/// Returns the head of a kind with sharp rows that differ most (alignment_bits), not on the token itself.
AttentionHead sharpest_head(const Trace& trace, AttentionKind kind);

/// Returns the tokens of the first word of a stack that equals this one in lower case; empty: none.
std::vector<int> tokens_of_word(const Trace& trace, int stack, const std::string& word);

}  // namespace headlight
