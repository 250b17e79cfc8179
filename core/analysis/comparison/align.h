// Aligns the tokens of two sequences.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/matrix.h"

namespace headlight {

enum class AlignBy { token, position };

/// Says how to align two sequences: by a rule, overridden by the user's pairs.
struct Alignment {
    AlignBy by = AlignBy::token;
    std::vector<std::pair<int, int>>
        by_hand;  // token of A, token of B; −1 for B: unpaired. Of the first stack's texts

    bool operator==(const Alignment&) const = default;
    Alignment of_stack(int stack) const { return {by, stack == 0 ? by_hand : decltype(by_hand)()}; }
};

/// Pairs a token of A with one of B; −1: none.
struct TokenPair {
    int a = -1, b = -1;
    bool both() const { return a >= 0 && b >= 0; }
    bool operator==(const TokenPair&) const = default;
};
using TokenPairs = std::vector<TokenPair>;

/// Lists every token of A and B once, A's in order, each unpaired one of B after its predecessor. By token:
/// the longest common subsequence (Hirschberg 1975); between two of its tokens one to one if both have as
/// many.
TokenPairs align(const Alignment& how, std::span<const std::string> a, std::span<const std::string> b);

/// Pairs each of `count` tokens with itself.
TokenPairs paired_with_itself(int count);

/// Returns the index of a token of A in the pairs, or −1.
int index_of(const TokenPairs& pairs, int a);

/// Lays out one side's matrix along the pairs of both; fills cells of missing tokens with `absent`.
enum class Side { a, b };
Matrix laid_out(const Matrix& values, const TokenPairs& rows, const TokenPairs& columns, Side side,
                float absent);

}  // namespace headlight
