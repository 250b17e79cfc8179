// What a translator's choices rest on: the gender of an article, the word that "it" stands for, the words
// that are dropped.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/prediction/generate.h"

namespace headlight {

/// A source and what the model wrote of it, greedily, read again as a whole.
struct Translated {
    std::shared_ptr<const Trace> trace;  // its decoder read all written tokens but the last
    std::vector<int> ids;                // written, with the end token where it came
    std::string text;
    std::vector<std::string> source, written;  // labels of the source's tokens and of `ids`
};
Result<Translated> translate(const std::shared_ptr<const Model>& model, const Sequence& source,
                             ThreadPool& pool, const CancelFlag* cancel);
/// The same from a text.
Result<Translated> translate(const std::shared_ptr<const Model>& model, const std::string& text,
                             ThreadPool& pool, const CancelFlag* cancel);

/// One of several words at the place of a written token.
struct WordChoice {
    int row = 0;                       // of the decoder, which chose it
    std::vector<std::string> words;    // "der", "die", "das", as the written one begins: "Der"
    std::vector<float> probabilities;  // of each
    int chosen = 0;                    // among the words
    int rests_on = -1;                 // the source token without which the chosen word is least probable
    float without = 0;                 // … and how probable it is then
};

/// Where one of the words (in lower case) was written, with the probabilities of all of them; the source
/// tokens are hidden one after the other from encoder and cross-attention, to see on which the choice rests.
Result<std::vector<WordChoice>> word_choices(const Translated& translated,
                                             const std::vector<std::string>& words, ThreadPool& pool,
                                             const CancelFlag* cancel);

/// A head's row in cross-attention for each source token: the most that any written token looks at it.
Vector most_looked_at(const Matrix& pattern);

/// The head of a kind of attention whose rows are sharp and differ most (alignment_bits), less what
/// self-attention's tokens look at themselves.
AttentionHead sharpest_head(const Trace& trace, AttentionKind kind);

/// The tokens of the first word of a stack that is this one in lower case; empty: there is none.
std::vector<int> tokens_of_word(const Trace& trace, int stack, const std::string& word);

}  // namespace headlight
