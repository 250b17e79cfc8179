// Compares the layers from one token to another, and their cost (Vaswani et al. 2017, table 1).
#pragma once

#include <span>

namespace headlight {

struct ReachSizes {
    int kernel = 3;    // tokens that a convolution reads at once, itself included
    int window = 256;  // tokens that a windowed query attends to, itself included
    int rank = 256;    // keys to which low-rank attention compresses all
};

/// Describes a way to mix n tokens. Functions of n are NaN where they mean nothing.
struct Reach {
    const char *key, *title, *source;
    const char* weights;  // what mixes the tokens
    const char* scores_formula;
    /// Counts layers (or steps) from the first token to the last.
    double (*path)(double n, const ReachSizes& sizes);
    /// Counts the steps of one layer that must run in sequence.
    double (*steps)(double n, const ReachSizes& sizes);
    /// Counts the pairs of query and key that one head scores, without a mask.
    double (*scores)(double n, const ReachSizes& sizes);
};

/// Lists recurrence, convolution, dilated convolution, full, windowed, strided and low-rank attention.
std::span<const Reach> reaches();

}  // namespace headlight
