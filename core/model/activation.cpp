#include "model/activation.h"

#include "kernels/choice.h"

namespace headlight {

namespace {

using Values = Eigen::Ref<Eigen::ArrayXf>;

void gelu(Values x) { kernels().gelu(x.data(), x.size()); }
void gelu_tanh(Values x) { kernels().gelu_tanh(x.data(), x.size()); }
void relu(Values x) { kernels().relu(x.data(), x.size()); }
void silu(Values x) { kernels().silu(x.data(), x.size()); }
void quick_gelu(Values x) { kernels().quick_gelu(x.data(), x.size()); }

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
