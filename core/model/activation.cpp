#include "model/activation.h"

#include <cmath>

#include "base/cast.h"

namespace headlight {

namespace {

using Values = Eigen::Ref<Eigen::ArrayXf>;

void gelu(Values x) {
    x = x.unaryExpr([](float v) { return 0.5f * v * (1.0f + std::erf(v * float(M_SQRT1_2))); });
}
/// tanh(u) = 1 − 2 / (exp(2u) + 1), so 0.5 (1 + tanh u) = 1 − 1 / (exp(2u) + 1).
void gelu_tanh(Values x) {
    const float root = std::sqrt(2.0f / float(EIGEN_PI));
    x = x - x / ((2.0f * root * (x + 0.044715f * x.cube())).exp() + 1.0f);
}
void relu(Values x) { x = x.max(0.0f); }
void silu(Values x) { x = x / ((-x).exp() + 1.0f); }
void quick_gelu(Values x) { x = x / ((-1.702f * x).exp() + 1.0f); }

// In the order of Activation.
constexpr ActivationRow kActivations[] = {
    {Activation::gelu, "gelu", {"gelu"}, gelu},
    {Activation::gelu_tanh, "gelu (tanh form)", {"gelu_new", "gelu_pytorch_tanh", "gelu_fast"}, gelu_tanh},
    {Activation::relu, "relu", {"relu"}, relu},
    {Activation::silu, "silu", {"silu", "swish"}, silu},
    {Activation::quick_gelu, "quick gelu", {"quick_gelu"}, quick_gelu},
};

}  // namespace

std::span<const ActivationRow> activations() { return kActivations; }
const ActivationRow& activation_row(Activation activation) { return row_of(kActivations, activation); }

}  // namespace headlight
