// How far apart two tokens are for a network, and what it costs that they meet (Vaswani et al. 2017, table
// 1).
#pragma once

#include <span>

namespace headlight {

struct ReachSizes {
    int kernel = 3;    // tokens that a convolution reads at once, itself included
    int window = 256;  // tokens that a windowed query sees, itself included
    int rank = 256;    // keys that low-rank attention makes of all
};

/// A way to let n tokens know of one another. Functions of n are NaN where they mean nothing.
struct Reach {
    const char *key, *title, *source;
    const char* weights;  // what mixes the tokens
    const char* scores_formula;
    /// Layers (or steps) from the first token to the last.
    double (*path)(double n, const ReachSizes& sizes);
    /// Steps of one layer that must wait for one another.
    double (*steps)(double n, const ReachSizes& sizes);
    /// Pairs of query and key that one head scores, without a mask.
    double (*scores)(double n, const ReachSizes& sizes);
};

/// recurrence, convolution, dilated convolution, full, windowed, strided and low-rank attention.
std::span<const Reach> reaches();
const Reach& find_reach(const char* key);

}  // namespace headlight
