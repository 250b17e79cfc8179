// Reads latent attention, for the families that have it.
#pragma once

#include "model/families/moe_like.h"

namespace headlight {

/// Lists the defaults in which classes differ, and which components of q and k turn together.
struct LatentUsual {
    int64_t q_rank = 1536, kv_rank = 512, d_own = 128, d_shared = 64, d_value = 128;
    bool always_q_rank = false;  // the class knows no queries of one matrix
    bool null_d_value = false;   // v_head_dim may be null
    enum Pairs { by_key, neighbors, halves } pairs = by_key;
    RopeKeys rope = {};
};

/// Makes the attention of all layers read a latent.
void set_latent(ConfigReader& r, ModelConfig& c, const LatentUsual& usual);

inline constexpr TensorRow kLatentTensors[] = {
    {Slot::q_down, "layers.#.self_attn.q_a_proj"},
    {Slot::q_down_norm, "layers.#.self_attn.q_a_layernorm"},
    {Slot::q, "layers.#.self_attn.q_proj"},
    {Slot::q, "layers.#.self_attn.q_b_proj"},
    {Slot::kv_down, "layers.#.self_attn.kv_a_proj_with_mqa"},
    {Slot::kv_down_norm, "layers.#.self_attn.kv_a_layernorm"},
    {Slot::kv_up, "layers.#.self_attn.kv_b_proj"},
    {Slot::mlp_post_norm, "layers.#.mlp.post_mlp_layernorm"},
    {Slot::mlp_post_norm, "layers.#.post_mlp_layernorm"},
};
inline constexpr TensorNames kLatentNames{kLlamaPrefixes, kLatentTensors, kMoeTensors, kLlamaTensors};

}  // namespace headlight
