// Tabulates activations. GELU, exact and as tanh: Hendrycks and Gimpel 2016. SiLU: Elfwing et al. 2018.
#pragma once

#include <array>
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

}  // namespace headlight
