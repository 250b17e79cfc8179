// Maps Hugging Face names of sizes to those in GGUF files.
#pragma once

#include <span>
#include <string>

#include "io/gguf.h"

namespace headlight {

using GgufNames = std::pair<const char*, const char*>;  // Hugging Face name, GGUF name

/// Describes how GGUF files hold a family: the name of the architecture, and its keys of sizes.
struct GgufForm {
    const char* name = "";  // "": not opened from GGUF
    std::span<const GgufNames> keys = {};
    bool interleaved = false;  // q and k are stored for interleaved rotation
    /// Adds to the converted config.json what the file says otherwise, or leaves out; null: nothing.
    Status (*complete)(const Gguf& file, const std::string& name, Json& config) = nullptr;
    const char* usual = "{}";  // of config.json, where the file does not say otherwise
    const char* also = "";     // another architecture that is read so
    bool lists = false;        // `complete` reads the values that differ between layers,
    bool ropes = false;        // and their rotations
};

inline constexpr const char* kSharedWidth = "expert_shared_feed_forward_length";

/// Lists the keys that most architectures have.
inline constexpr GgufNames kUsualGgufKeys[] = {{"hidden_size", "embedding_length"},
                                               {"num_hidden_layers", "block_count"},
                                               {"num_attention_heads", "attention.head_count"},
                                               {"num_key_value_heads", "attention.head_count_kv"},
                                               {"num_kv_heads", "attention.head_count_kv"},
                                               {"intermediate_size", "feed_forward_length"},
                                               {"ffn_hidden_size", "feed_forward_length"},
                                               {"n_inner", "feed_forward_length"},
                                               {"max_position_embeddings", "context_length"},
                                               {"max_seq_len", "context_length"},
                                               {"num_experts", "expert_count"},
                                               {"num_local_experts", "expert_count"},
                                               {"n_routed_experts", "expert_count"},
                                               {"moe_num_experts", "expert_count"},
                                               {"num_experts_per_tok", "expert_used_count"},
                                               {"moe_k", "expert_used_count"},
                                               {"moe_topk", "expert_used_count"},
                                               {"moe_intermediate_size", "expert_feed_forward_length"},
                                               {"n_shared_experts", "expert_shared_count"},
                                               {"moe_num_shared_experts", "expert_shared_count"},
                                               {"num_shared_experts", "expert_shared_count"},
                                               {"num_dense_layers", "leading_dense_block_count"},
                                               {"shared_intermediate_size", kSharedWidth},
                                               {"shared_expert_intermediate_size", kSharedWidth},
                                               {"first_k_dense_replace", "leading_dense_block_count"},
                                               {"moe_layer_start_index", "leading_dense_block_count"},
                                               {"moe_layer_interval", "interleave_moe_layer_step"},
                                               {"interleave_moe_layer_step", "interleave_moe_layer_step"},
                                               {"n_group", "expert_group_count"},
                                               {"topk_group", "expert_group_used_count"},
                                               {"q_lora_rank", "attention.q_lora_rank"},
                                               {"kv_lora_rank", "attention.kv_lora_rank"},
                                               {"rope_theta", "rope.freq_base"},
                                               {"rotary_emb_base", "rope.freq_base"},
                                               {"use_parallel_residual", "use_parallel_residual"},
                                               {"clip_qkv", "attention.clamp_kqv"},
                                               {"rope_local_base_freq", "rope.freq_base_swa"},
                                               {"head_dim", "attention.key_length"},
                                               {"sliding_window", "attention.sliding_window"},
                                               {"attn_logit_softcapping", "attn_logit_softcapping"},
                                               {"final_logit_softcapping", "final_logit_softcapping"},
                                               {"logit_scale", "logit_scale"},
                                               {"logits_scaling", "logit_scale"},
                                               {"attention_multiplier", "attention.scale"},
                                               {"embedding_multiplier", "embedding_scale"},
                                               {"residual_multiplier", "residual_scale"}};

/// Returns the keys, after the architecture's name, that describe RoPE scaling.
std::span<const GgufNames> gguf_rope_keys();

/// Returns "granitehybrid.": what an architecture's keys begin with.
std::string gguf_prefix(const Gguf& file);

/// Returns the number of a model's own layers, which the converted config has.
Result<int64_t> layer_count(const Gguf& file, const std::string& name, const Json& config);

/// Returns a number of each layer: the file holds one for all, or a list.
Result<std::vector<int64_t>> layer_numbers(const Gguf& file, const std::string& key, int64_t depth,
                                           const std::string& name);

/// Returns rotary parameters of longrope, whose factors are tensors in GGUF.
Result<Json> gguf_longrope(const Gguf& file, const std::string& name);

/// Refuses files of models that also read images, whose components are stored in another order.
Status refuse_sections(const Gguf& file, const std::string& architecture, const std::string& name);

/// Rewords an error of the converted config in the file's own names, whose keys begin with `prefix`.
Error in_gguf_names(Error error, const GgufForm& form, const std::string& prefix);

}  // namespace headlight
