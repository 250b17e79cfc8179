// Reads what families with a mixture of experts share, and their names.
#pragma once

#include <functional>

#include "model/families/llama_like.h"

namespace headlight {

/// Reads a number of experts.
int expert_count(ConfigReader& r, Keys keys, int64_t usual);

/// Gives every layer that `sparse` selects a mixture of experts, and one MLP of `shared` width for all
/// tokens. Fails if more experts are used than there are.
void set_experts(ConfigReader& r, ModelConfig& c, const ExpertsSpec& experts, int shared,
                 const std::function<bool(int)>& sparse);

/// Reads which layers are sparse by Qwen's keys, decoder_sparse_step and mlp_only_layers.
std::function<bool(int)> qwen_sparse(ConfigReader& r);

/// Says that every layer is sparse.
inline constexpr auto every_layer = [](int) { return true; };

/// Selects the layers from `first` on.
inline std::function<bool(int)> from_layer(int first) {
    return [first](int l) { return l >= first; };
}

/// Selects the layers after the dense ones, which first_k_dense_replace counts.
std::function<bool(int)> after_dense(ConfigReader& r, int64_t usual);

/// Reads which layers are sparse from mlp_layer_types; without it those that `usual` selects.
std::function<bool(int)> listed_sparse(ConfigReader& r, const ModelConfig& c,
                                       const std::function<bool(int)>& usual);

/// Reads the experts of Qwen's classes, whose weights are normalized if norm_topk_prob says so.
ExpertsSpec qwen_experts(ConfigReader& r, int64_t count, int64_t used, int64_t width);

/// Holds the defaults of DeepSeek V3's router in classes that follow it.
inline constexpr ExpertsSpec kUsualExperts{.count = 128, .used = 8, .width = 1408, .normalize = true};

/// Reads DeepSeek V3's router: σ, a bias for the choice, groups, a factor.
ExpertsSpec deepseek_experts(ConfigReader& r, const ExpertsSpec& usual = kUsualExperts,
                             Keys count = {"n_routed_experts"});
void set_deepseek_experts(ConfigReader& r, ModelConfig& c, const ExpertsSpec& experts, int64_t usual_shared,
                          int64_t usual_dense);

/// Norms q and k of all layers.
void norm_heads_of_all(ModelConfig& c, QkNorm kind);

inline constexpr TensorRow kMoeTensors[] = {
    {Slot::router, "layers.#.mlp.gate"},
    {Slot::router_bias, "layers.#.mlp.gate.e_score_correction_bias"},
    {Slot::expert_gate, "layers.#.mlp.experts.%.gate_proj"},
    {Slot::expert_up, "layers.#.mlp.experts.%.up_proj"},
    {Slot::expert_down, "layers.#.mlp.experts.%.down_proj"},
    {Slot::shared_gate, "layers.#.mlp.shared_expert_gate"},
    {Slot::gate, "layers.#.mlp.gate_proj"},
    {Slot::gate, "layers.#.mlp.shared_expert.gate_proj"},
    {Slot::gate, "layers.#.mlp.shared_experts.gate_proj"},
    {Slot::up, "layers.#.mlp.up_proj"},
    {Slot::up, "layers.#.mlp.shared_expert.up_proj"},
    {Slot::up, "layers.#.mlp.shared_experts.up_proj"},
    {Slot::down, "layers.#.mlp.down_proj"},
    {Slot::down, "layers.#.mlp.shared_expert.down_proj"},
    {Slot::down, "layers.#.mlp.shared_experts.down_proj"},
};
inline constexpr TensorNames kMoeNames{kLlamaPrefixes, kMoeTensors, kLlamaTensors};

}  // namespace headlight
