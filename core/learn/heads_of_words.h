// Finds heads of one token that look at different words, and what is left of them in their mean.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace headlight {

/// Pairs a head with the word at which it looks more than any other head does.
struct HeadOfWord {
    AttentionHead head;
    int word = 0;
    float weight = 0;  // on all of the word's tokens
};

/// Holds some heads' rows over the words of the text that a token attends to.
struct HeadsOfWords {
    std::vector<std::string> words;
    std::vector<int> first_tokens;  // of each word
    std::vector<HeadOfWord> heads;  // by weight
    Matrix rows;                    // [heads, words]
    Vector mean;                    // of the rows
};

/// Takes for each word the head that looks at it most, one word a head, and keeps the `count` strongest.
/// Leaves out the token's own word and the one before it, at which a previous-token head looks whatever it
/// is. None if fewer than two are left, or the stack has no self-attention.
std::optional<HeadsOfWords> heads_of_words(const Trace& trace, int stack, int query, int count);

}  // namespace headlight
