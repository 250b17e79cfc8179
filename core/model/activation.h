// Tabulates activations. GELU, exact and as tanh: Hendrycks and Gimpel 2016. SiLU: Elfwing et al. 2018.
// Squared ReLU: So et al. 2021. xIELU: Huang and Schlag 2024.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "model/model.h"

namespace headlight {

struct ActivationRow {
    Activation activation;
    const char* name;                             // as shown to users
    std::array<const char*, 3> spellings;         // in config.json; null: no further spelling
    void (*apply)(Eigen::Ref<Eigen::ArrayXf> x);  // in place
    void (*slope)(Eigen::Ref<Eigen::ArrayXf> x);  // replaces x by the derivative at x
};

std::span<const ActivationRow> activations();
const ActivationRow& activation_row(Activation activation);

/// Return σ(x) = 1 / (1 + e^(−x)), and ln(1 + e^x), which does not overflow.
inline float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }
inline float silu_at(float x) { return x * sigmoid(x); }
inline float silu_slope_at(float x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); }
inline float softplus(float x) { return std::max(x, 0.0f) + std::log1p(std::exp(-std::abs(x))); }

/// Apply an MLP's activation to x in place, or replace x by the derivative at x; `xielu`: of the layer.
void apply_activation(Activation activation, const XieluWeights& xielu, Eigen::Ref<Eigen::ArrayXf> x);
void apply_slope(Activation activation, const XieluWeights& xielu, Eigen::Ref<Eigen::ArrayXf> x);

}  // namespace headlight
