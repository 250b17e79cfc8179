// The words, sentences and paragraphs that tokens of a text make up.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace headlight {

enum class TextPart { token, word, sentence, paragraph };

/// Tokens first … end − 1.
struct TextSpan {
    int first = 0, end = 0;
    int size() const { return end - first; }
    bool operator==(const TextSpan&) const = default;
};

/// The parts of a stack's sequence, one behind the other, which cover all of it. Words are those of
/// word_numbers; a sentence ends behind . ! ? … where a blank or nothing follows, and behind 。！？; all end
/// at a line break. Without a tokenizer, and of patches, the whole is one sentence and each token a word.
std::vector<TextSpan> text_parts(const Trace& trace, int stack, TextPart part);

/// A part whose tokens' scores are added up; its label is its text, blanks within it kept.
struct ScoredPart {
    TextSpan tokens;
    int stack = 0;
    std::string label;
    float score = 0;
};
/// Of all stacks; `tokens` are the scores of each, `left_out` how many at the end of the last have no part.
std::vector<ScoredPart> scored_parts(const Trace& trace, std::span<const Vector> tokens, TextPart part,
                                     int left_out = 0);

}  // namespace headlight
