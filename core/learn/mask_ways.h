// What a mask does to one row of attention, by where it is laid.
#pragma once

#include <span>
#include <vector>

namespace headlight {

enum class MaskWay {
    none,             // every key is weighed
    infinity_before,  // hidden scores become −∞, then softmax (Vaswani et al. 2017)
    zero_after,       // softmax over all keys, then hidden weights become 0: what is left sums to less than 1
    large_before,     // hidden scores become −1e9, then softmax (masked_fill of the paper's PyTorch code)
};

/// The weights of one row. scores: [keys]; allowed: [keys]. Where every key is hidden, −∞ gives NaN (0 ÷ 0),
/// 0 after it a row of zeros, and −1e9 a uniform row, because all scores are alike again.
std::vector<float> masked_weights(std::span<const float> scores, const std::vector<bool>& allowed,
                                  MaskWay way);

}  // namespace headlight
