// Tracks which rows of a gradient can be nonzero: in a causal stack no output depends on later tokens, so its
// gradient has no rows after it, and in the layer of a seed only the seed's row.
#pragma once

#include <span>
#include <vector>

#include "base/matrix.h"
#include "model/attention.h"

namespace headlight {

/// Returns the smallest range that contains both; an empty range adds nothing.
KeyRange joined(const KeyRange& a, const KeyRange& b);

/// Lays out gradients of several outputs by the same x[n, …], one below the other: for each output the rows
/// of a range of tokens, in order. All other rows are zero.
class GradientRows {
public:
    struct Part {
        KeyRange tokens;
        Index at = 0;  // row of the first token
        bool operator==(const Part&) const = default;
    };

    GradientRows() = default;
    GradientRows(int n, std::span<const KeyRange> tokens);
    static GradientRows none(int n, int outputs);
    static GradientRows whole(int n, int outputs);

    int tokens() const { return n_; }
    int outputs() const { return isize(parts_); }
    Index rows() const { return std::ssize(token_of_); }
    const Part& part(int output) const { return parts_[static_cast<size_t>(output)]; }
    /// Returns the token of each row.
    std::span<const int> token_of() const { return token_of_; }
    /// Returns the smallest range of tokens that contains those of every output.
    KeyRange hull() const;
    /// Extends the range of each output to contain the given tokens.
    GradientRows with(std::span<const KeyRange> tokens) const;
    /// Lays out a gradient of these rows as one of `wider`, which contains them all; zeros elsewhere.
    Matrix widened(Matrix gradient, const GradientRows& wider) const;

    bool operator==(const GradientRows& other) const { return n_ == other.n_ && parts_ == other.parts_; }

private:
    int n_ = 0;
    std::vector<Part> parts_;
    std::vector<int> token_of_;
};

/// Adds up gradients by the same x that come in different rows.
struct GradientSum {
    GradientRows rows;
    Matrix values = {};
    void add(const GradientRows& of, Matrix gradient);
};

/// Returns the queries whose own z determines that of `rows`: the same, or all if a head's z is its mean.
GradientRows query_rows(const AttentionRule& rule, const GradientRows& rows);
/// Returns the tokens whose input to self-attention reaches these queries: themselves and their keys.
GradientRows entering_rows(const AttentionRule& rule, const GradientRows& queries);

}  // namespace headlight
