// Applies the activations of MLPs and their derivatives.
#include "model/activation.h"

#include <algorithm>
#include <cmath>

#include "kernels/choice.h"

namespace headlight {

namespace {

using Values = Eigen::Ref<Eigen::ArrayXf>;

void gelu(Values x) { kernels().gelu(x.data(), x.size()); }
void gelu_tanh(Values x) { kernels().gelu_tanh(x.data(), x.size()); }
void relu(Values x) { kernels().relu(x.data(), x.size()); }
void silu(Values x) { kernels().silu(x.data(), x.size()); }
void relu_squared(Values x) { x = x.max(0.0f).square(); }
void quick_gelu(Values x) { kernels().quick_gelu(x.data(), x.size()); }

/// gelu'(x) = Φ(x) + x φ(x).
void gelu_slope(Values x) {
    constexpr auto kDensity = float(M_2_SQRTPI / 2 * M_SQRT1_2);  // φ(0)
    for (float& value : x)
        value =
            0.5f * std::erfc(-float(M_SQRT1_2) * value) + value * kDensity * std::exp(-0.5f * value * value);
}
/// Differentiates x/2 · (1 + tanh u), u = √(2/π) (x + 0.044715 x³); beyond |x| = 10 it is 0 or 1.
void gelu_tanh_slope(Values x) {
    constexpr auto kScale = float(M_2_SQRTPI * M_SQRT1_2);
    constexpr float kCube = 0.044715f, kEnd = 10;
    x = x.max(-kEnd).min(kEnd);
    const Eigen::ArrayXf t = (kScale * (x + kCube * x.cube())).tanh();
    x = 0.5f * (1 + t) + 0.5f * x * (1 - t.square()) * kScale * (1 + 3 * kCube * x.square());
}
void relu_slope(Values x) { x = (x > 0).cast<float>(); }
/// (x σ(s x))' = σ + s x σ (1 − σ).
void sigmoid_slope(Values& x, float s) {
    constexpr float kEnd = 80;  // σ saturates at 0 or 1 here, while exp is still finite
    const Eigen::ArrayXf u = (s * x).max(-kEnd).min(kEnd), sigma = 1 / (1 + (-u).exp());
    x = sigma + u * sigma * (1 - sigma);
}
void relu_squared_slope(Values x) { x = 2 * x.max(0.0f); }
void silu_slope(Values x) { sigmoid_slope(x, 1); }
void quick_gelu_slope(Values x) { sigmoid_slope(x, 1.702f); }

/// Holds xIELU's parameters: p, n, β and ε.
struct Xielu {
    float positive = 0.8f, negative = 0.8f, beta = 0.5f, end = -1e-6f;
};

Xielu read(const XieluWeights& w) {
    if (!w.positive) return {};
    return {softplus(*w.positive), *w.beta + softplus(*w.negative), *w.beta, *w.end};
}

/// x > 0: p x² + β x; else n (exp(min(x, ε)) − 1 − x) + β x.
void xielu(const Xielu& of, Values x) {
    for (float& value : x)
        value = of.beta * value + (value > 0 ? of.positive * value * value
                                             : of.negative * (std::expm1(std::min(value, of.end)) - value));
}
void xielu_slope(const Xielu& of, Values x) {
    for (float& value : x)
        value = of.beta + (value > 0 ? 2 * of.positive * value
                                     : of.negative * ((value < of.end ? std::exp(value) : 0) - 1));
}

// Follows the order of Activation.
constexpr ActivationRow kActivations[] = {
    {Activation::gelu, "gelu", {"gelu", "gelu_python"}, gelu, gelu_slope},
    {Activation::gelu_tanh,
     "gelu (tanh form)",
     {"gelu_new", "gelu_pytorch_tanh", "gelu_fast"},
     gelu_tanh,
     gelu_tanh_slope},
    {Activation::relu, "relu", {"relu"}, relu, relu_slope},
    {Activation::silu, "silu", {"silu", "swish"}, silu, silu_slope},
    {Activation::quick_gelu, "quick gelu", {"quick_gelu"}, quick_gelu, quick_gelu_slope},
    {Activation::relu_squared, "relu²", {"relu2"}, relu_squared, relu_squared_slope},
    {Activation::xielu, "xIELU", {}, [](Values x) { xielu({}, x); }, [](Values x) { xielu_slope({}, x); }},
};

}  // namespace

std::span<const ActivationRow> activations() { return kActivations; }
const ActivationRow& activation_row(Activation activation) { return row_of(kActivations, activation); }

void apply_activation(Activation activation, const XieluWeights& weights, Values x) {
    if (activation == Activation::xielu) return xielu(read(weights), x);
    activation_row(activation).apply(x);
}
void apply_slope(Activation activation, const XieluWeights& weights, Values x) {
    if (activation == Activation::xielu) return xielu_slope(read(weights), x);
    activation_row(activation).slope(x);
}

}  // namespace headlight
