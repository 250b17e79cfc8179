// Passes gradients through random layers.
#include "learn/random_layers.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/draws.h"

namespace headlight {

RandomLayers::RandomLayers(int layers, int width, double gain, bool residual, unsigned seed)
    : residual_(residual), branch_(residual ? 1 / std::sqrt(float(std::max(1, layers))) : 1) {
    Draws draws(seed);
    for (int i = 0; i < layers; ++i)
        w_.push_back(normal_matrix(width, width, gain / std::sqrt(double(width)), draws));
}

std::vector<Vector> RandomLayers::forward(const Vector& x) const {
    std::vector<Vector> out{x};
    for (const Matrix& w : w_) {
        Vector next = branch_ * (w * out.back()).array().tanh();
        if (residual_) next += out.back();
        out.push_back(std::move(next));
    }
    return out;
}

std::vector<Vector> RandomLayers::gradients(const std::vector<Vector>& inputs, const Vector& top) const {
    std::vector<Vector> out(inputs.size(), top);
    for (int i = isize(w_) - 1; i >= 0; --i) {
        const Vector y = (w_[i] * inputs[i]).array().tanh();
        out[i] = branch_ * w_[i].transpose() * (out[i + 1].array() * (1 - y.array().square())).matrix();
        if (residual_) out[i] += out[i + 1];
    }
    return out;
}

std::vector<float> gradient_by_depth(int layers, int width, double gain, bool residual, unsigned seed) {
    const RandomLayers stack(layers, width, gain, residual, seed);
    Draws draws(seed + 1);
    const Vector x = normal_matrix(width, 1, 1, draws).col(0);
    const Vector top = normal_matrix(width, 1, 1, draws).col(0).normalized();
    std::vector<float> out;
    for (const Vector& gradient : stack.gradients(stack.forward(x), top)) out.push_back(gradient.norm());
    std::reverse(out.begin(), out.end());
    return out;
}

}  // namespace headlight
