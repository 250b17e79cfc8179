// Says what the MLPs of a model's layers are, mixtures of experts too. Nothing here computes.
#pragma once

#include <optional>

namespace headlight {

/// Names the activations of MLPs (model/activation.h); xielu has parameters in each layer.
enum class Activation { gelu, gelu_tanh, relu, silu, quick_gelu, relu_squared, xielu };

/// Says how a router's scores become the weights of experts: by softmax over all; by softmax over those
/// chosen alone; each by σ (DeepSeek V3); or, for each choice, by softmax over the scores left that are near
/// the largest one (SparseMixer: Liu et al. 2023).
enum class Routing { softmax, softmax_of_chosen, sigmoid, sparse_mixer };

/// Describes a mixture of experts: each token goes to `used` of `count` MLPs.
struct ExpertsSpec {
    bool operator==(const ExpertsSpec&) const = default;
    int count = 0, used = 0, width = 0;
    Routing routing = Routing::softmax;
    bool by_scores = false;    // sigmoid: experts are chosen by their scores, not by σ of them (Kolibri)
    bool normalize = false;    // weights are divided by their sum,
    float least_sum = 1e-20f;  // or by this, if it is larger
    float scale = 1;           // of the weights
    int groups = 1, groups_used = 1;  // experts are chosen from the best groups
    int group_top = 2;                // experts whose scores rank a group
    bool choice_bias = false;         // added to scores for the choice alone
    bool router_bias = false;         // added to scores
    float score_cap = 0;              // score → cap · tanh(score / cap); 0: none (Laguna)
    float jitter = 0;                 // sparse_mixer: scores further off than 2 · jitter of their size drop
    bool bias = false;                // of each expert's matrices
    bool alternating = false;         // one matrix in, whose outputs are gate, up, gate, up, … (gpt-oss)
    /// gpt-oss: (up + 1) · gate · σ(steepness · gate), of gate ≤ clamp and |up| ≤ clamp; 0: act(gate) · up.
    float clamp = 0, steepness = 1;
    bool weighs_input = false;  // weights multiply what experts read, not what they write (Llama 4)
    /// The shared expert, the others and the router read rows times weights of their own, and what the first
    /// two add is normed (Gemma 4).
    bool apart = false;
    float router_scale = 1;    // of scores
    bool own_scales = false;   // the weight of each expert is multiplied by a learned number
    float shared_scale = 1;    // of the shared expert's output
    bool shared_gate = false;  // the shared expert's output times σ of a score
};

/// Describes one MLP: out(act(in x)), or gated: out(act(gate x) · (in x)).
struct MlpSpec {
    bool operator==(const MlpSpec&) const = default;
    int width = 0;  // with experts: of the one that all tokens share; 0: none
    Activation activation = Activation::gelu_tanh;
    bool gated = false, bias = true;
    bool in_bias = true;  // false: only the output has a bias (GTE)
    bool has_in_bias() const { return bias && in_bias; }
    float gate_times = 1, output_times = 1;  // by which these are multiplied, with their biases (Falcon-H1)
    /// About this share of each token's gate is cut to 0 before the activation (Gemma 3n;
    /// model/sparse_gate.h); 0: none.
    float sparsity = 0;
    bool none() const { return width == 0 && !experts; }  // a layer of attention alone (Mamba-2)
    std::optional<ExpertsSpec> experts;
};

}  // namespace headlight
