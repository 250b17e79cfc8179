// Routers of mixtures of experts: which experts a token goes to, and with which weights (Shazeer et al.
// 2017).
#pragma once

#include <span>
#include <vector>

#include "model/pass.h"

namespace headlight {

/// Says which expert a token goes to, and the factor of its output.
struct ExpertChoice {
    int expert = 0;
    float weight = 0;
};

/// Chooses the experts of one token from the router's scores s, one for each expert; the largest first. bias:
/// what is added to scores for the choice alone, or null. Of equal scores the first counts.
std::vector<ExpertChoice> choose_experts(const ExpertsSpec& spec, std::span<const float> scores,
                                         const float* bias);

/// Returns x times the weights of one of its readers (ApartWeights), row by row; null: x.
inline Matrix read_by(const float* weights, ConstMatrixRef x) {
    if (!weights) return x;
    return x.array().rowwise() * Eigen::Map<const Eigen::RowVectorXf>(weights, x.cols()).array();
}

/// [rows][used]: chooses the experts of each row of x[rows, d_model]; each weight times the expert's own
/// scale, if it has one.
std::vector<std::vector<ExpertChoice>> route(const StackRun& run, const ExpertsSpec& spec,
                                             const LayerWeights& weights, ConstMatrixRef x);

/// [experts]: what the router's scores of one row x[d_model] count for: softmax, or σ of each.
std::vector<float> router_shares(const StackRun& run, const ExpertsSpec& spec, const LayerWeights& weights,
                                 ConstMatrixRef x);

/// [rows, experts]: computes the router's scores of x[rows, d_model], soft-capped if its family does so.
Matrix router_scores(const StackRun& run, const ExpertsSpec& spec, const LayerWeights& weights,
                     ConstMatrixRef x);

/// [experts]: maps gradients by the weights of chosen experts to those by the router's scores.
Eigen::RowVectorXf scores_vjp(const ExpertsSpec& spec, std::span<const float> scores,
                              const std::vector<ExpertChoice>& chosen, std::span<const float> by_weight);

}  // namespace headlight
