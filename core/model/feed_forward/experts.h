// Mixtures of experts: a router chooses some MLPs for each token (Shazeer et al. 2017).
#pragma once

#include <span>
#include <vector>

#include "model/feed_forward/routing.h"

namespace headlight {

/// [rows, d_model]: Σ weight · expert(x) of each row, and the shared expert's output. Reads the chosen
/// experts' weights alone. off: experts whose part is left out; the others keep their weights.
Matrix experts_output(const StackRun& run, const MlpSpec& spec, const LayerWeights& weights, ConstMatrixRef x,
                      std::span<const int> off = {});

/// [rows, d_model]: Σ weight · expert(x) alone, before the norm of what experts add, if there is one.
Matrix chosen_output(const StackRun& run, const MlpSpec& spec, const LayerWeights& weights, ConstMatrixRef x,
                     std::span<const int> off = {});

/// [d_model]: what a chosen expert adds to one row x[d_model], before that norm: weight · expert(x).
Eigen::RowVectorXf expert_part(const StackRun& run, const MlpSpec& spec, const LayerWeights& weights,
                               const ExpertChoice& choice, ConstMatrixRef x);

/// Maps the gradient by experts_output to the one by its input x[tokens, d_model], through the experts and
/// the router; which experts are chosen is held. `tokens`: the row of x for each row of the gradient.
Matrix experts_vjp(const StackRun& run, const MlpSpec& spec, const LayerWeights& weights, ConstMatrixRef x,
                   ConstMatrixRef gradient, std::span<const int> tokens, std::span<const int> off = {});

}  // namespace headlight
