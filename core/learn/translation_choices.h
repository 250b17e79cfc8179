// Finds what a translator's choices depend on: the gender of an article, the referent of "it", dropped words.
#pragma once

#include <memory>
#include <optional>
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
    std::vector<int> ids;              // of the words; −1: not a token
    std::vector<std::string> words;    // "der", "die", "das", capitalized like the written one: "Der"
    std::vector<float> probabilities;  // of each
    int chosen = 0;                    // index among the words
    int rests_on = -1;                 // source token without which the chosen word is least probable
    float without = 0;                 // its probability then
};

/// Finds where one of the words (in lower case) was written, with the probabilities of all of them.
std::vector<WordChoice> word_choices(const Translated& translated, const std::vector<std::string>& words,
                                     ThreadPool& pool);

/// Masks the source tokens one by one from encoder and cross-attention, to find the one on which each choice
/// depends.
Status find_grounds(const Translated& translated, ThreadPool& pool, const CancelFlag* cancel,
                    std::vector<WordChoice>& choices);

/// Holds what an article becomes if its noun is hidden.
struct HiddenNoun {
    std::vector<int> tokens;           // of the source word that the written noun looks at most
    std::string written, source;       // "Frau", "woman"
    std::vector<float> probabilities;  // of the choice's words then
    int most_probable = 0;             // token of the target's vocabulary that is written then
};

/// Hides the noun of an article: the first capitalized word after it; `cross`: [written, source], by which
/// the written noun finds the source word. Nothing if no such word follows.
Result<std::optional<HiddenNoun>> hide_noun(const Translated& translated, const WordChoice& choice,
                                            const Matrix& cross, ThreadPool& pool, const CancelFlag* cancel);

/// Returns the mean pattern of the last cross-attention layer, in which each row looks at the word that is
/// being written (the view Alignment shows it too).
Matrix alignment_pattern(const Trace& trace);

/// Returns for each source token the largest weight of any written token in a cross-attention head.
Vector most_looked_at(const Matrix& pattern);

/// Returns the head of a kind with sharp rows that differ most (alignment_bits), not on the token itself.
AttentionHead sharpest_head(const Trace& trace, AttentionKind kind);

/// Returns the tokens of the first word of a stack that equals this one in lower case; empty: none.
std::vector<int> tokens_of_word(const Trace& trace, int stack, const std::string& word);

}  // namespace headlight
