// Passes a gradient down a stack of random layers, with and without a residual connection.
#pragma once

#include <vector>

#include "base/matrix.h"

namespace headlight {

/// Is x ← tanh(W x) layer by layer, or x ← x + tanh(W x) ÷ √layers, which keeps x of one size; W [d, d] with
/// entries of variance gain² ÷ d.
class RandomLayers {
public:
    RandomLayers(int layers, int width, double gain, bool residual, unsigned seed);

    /// Returns the input of each layer, and the output last.
    std::vector<Vector> forward(const Vector& x) const;
    /// Returns the gradient by each of these, given the gradient by the output: the last.
    std::vector<Vector> gradients(const std::vector<Vector>& inputs, const Vector& top) const;

private:
    std::vector<Matrix> w_;
    bool residual_;
    float branch_;  // factor of tanh(W x)
};

/// [layers + 1]: the gradient's size after 0, 1, … layers down, of 1 at the top, for a random input.
std::vector<float> gradient_by_depth(int layers, int width, double gain, bool residual, unsigned seed);

}  // namespace headlight
