// Which rows of a gradient are not zero: in a causal stack no output answers to a later token, so what goes
// back from it has no rows behind it, and in the layer of a seed the row of the seed alone.
#pragma once

#include <span>
#include <vector>

#include "base/matrix.h"
#include "model/attention.h"

namespace headlight {

/// From the first to the last token of both; an empty one adds nothing.
KeyRange joined(const KeyRange& a, const KeyRange& b);

/// Gradients of several numbers by the same x[n, …], one below the other: of each the rows of some tokens,
/// one after another. At all others it is zero.
class GradientRows {
public:
    struct Part {
        KeyRange tokens;
        Index at = 0;  // the first one's row
        bool operator==(const Part&) const = default;
    };

    GradientRows() = default;
    GradientRows(int n, std::span<const KeyRange> tokens);
    static GradientRows none(int n, int outputs);
    static GradientRows whole(int n, int outputs);

    int tokens() const { return n_; }
    int outputs() const { return isize(parts_); }
    Index rows() const { return std::ssize(token_of_); }
    const Part& part(int number) const { return parts_[static_cast<size_t>(number)]; }
    /// The token of each row.
    std::span<const int> token_of() const { return token_of_; }
    /// From the first to the last token that any number has.
    KeyRange hull() const;
    /// The same with the tokens of each number that are given too, and what lies between.
    GradientRows with(std::span<const KeyRange> tokens) const;
    /// A gradient of these rows as one of `wider`, which has them all: zeros where it has more.
    Matrix widened(Matrix gradient, const GradientRows& wider) const;

    bool operator==(const GradientRows& other) const { return n_ == other.n_ && parts_ == other.parts_; }

private:
    int n_ = 0;
    std::vector<Part> parts_;
    std::vector<int> token_of_;
};

/// The queries whose own z makes those of `rows`: the same, or all where a head's z is the mean over queries.
GradientRows query_rows(const AttentionRule& rule, const GradientRows& rows);
/// The tokens that enter self-attention and make what leaves it at these queries: those, and the keys that
/// they may weigh.
GradientRows entering_rows(const AttentionRule& rule, const GradientRows& queries);

}  // namespace headlight
