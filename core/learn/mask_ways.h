// Compares ways to mask one row of attention.
#pragma once

#include <span>
#include <vector>

namespace headlight {

enum class MaskWay {
    none,             // every key has weight
    infinity_before,  // masked scores become −∞, then softmax (Vaswani et al. 2017)
    zero_after,       // softmax over all keys, then masked weights become 0: the rest sums to less than 1
    large_before,     // masked scores become −1e9, then softmax (masked_fill in the paper's PyTorch code)
};

/// Returns the weights of one row. scores: [keys]; allowed: [keys]. If every key is masked, −∞ gives NaN (0 ÷
/// 0), 0 after softmax a row of zeros, and −1e9 a uniform row, because all scores are equal again.
std::vector<float> masked_weights(std::span<const float> scores, const std::vector<bool>& allowed,
                                  MaskWay way);

/// Dropout in training (Srivastava et al. 2014): sets each weight to 0 with probability `rate` < 1 and
/// divides the others by 1 − rate, so that the mean over draws is the weight itself.
std::vector<float> dropped_out(std::vector<float> weights, float rate, unsigned seed);

}  // namespace headlight
