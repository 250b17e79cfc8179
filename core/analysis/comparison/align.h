// Which tokens of two sequences stand for each other.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/matrix.h"

namespace headlight {

enum class AlignBy { token, position };

/// How two sequences are laid beside each other: by a rule, and pairs that a person chose in place of what it
/// says.
struct Alignment {
    AlignBy by = AlignBy::token;
    std::vector<std::pair<int, int>>
        by_hand;  // token of A, token of B; −1 for B: stands alone. Of the first stack's texts

    bool operator==(const Alignment&) const = default;
    Alignment of_stack(int stack) const { return {by, stack == 0 ? by_hand : decltype(by_hand)()}; }
};

/// A token of A and the token of B that stands for it; −1: there is none.
struct TokenPair {
    int a = -1, b = -1;
    bool both() const { return a >= 0 && b >= 0; }
    bool operator==(const TokenPair&) const = default;
};
using TokenPairs = std::vector<TokenPair>;

/// Every token of A and B once, A's in their order, each of B's lone ones behind the one before it. By token:
/// the longest common subsequence (Hirschberg 1975), and between two of its tokens one for one where both
/// have as many.
TokenPairs align(const Alignment& how, std::span<const std::string> a, std::span<const std::string> b);

/// Each of `count` tokens with itself.
TokenPairs paired_with_itself(int count);

/// Where a token of A stands in the pairs, or −1.
int index_of(const TokenPairs& pairs, int a);

/// One side's matrix laid out along the pairs of both; cells of tokens that the side lacks are `absent`.
enum class Side { a, b };
Matrix laid_out(const Matrix& values, const TokenPairs& rows, const TokenPairs& columns, Side side,
                float absent);

}  // namespace headlight
