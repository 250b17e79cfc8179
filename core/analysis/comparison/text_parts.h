// Finds the words, sentences and paragraphs of a tokenized text.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace headlight {

enum class TextPart { token, word, sentence, paragraph };

/// Covers tokens first … end − 1.
struct TextSpan {
    int first = 0, end = 0;
    int size() const { return end - first; }
    bool operator==(const TextSpan&) const = default;
};

/// Splits a stack's sequence into consecutive parts that cover it. Words are those of word_numbers; a
/// sentence ends after . ! ? … before a space or the end, and after 。！？; all end at a line break. Without
/// a tokenizer, and for patches, the whole is one sentence and each token a word.
std::vector<TextSpan> text_parts(const Trace& trace, int stack, TextPart part);

/// Sums the scores of a part's tokens; its label is its text, with the spaces inside.
struct ScoredPart {
    TextSpan tokens;
    int stack = 0;
    std::string label;
    float score = 0;
};
/// Scores the parts of all stacks; `tokens`: the scores of each token, `left_out`: how many at the end of the
/// last stack have no part.
std::vector<ScoredPart> scored_parts(const Trace& trace, std::span<const Vector> tokens, TextPart part,
                                     int left_out = 0);

}  // namespace headlight
