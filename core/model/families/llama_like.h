// Reads what families with Llama's layers share (Touvron et al. 2023): RMSNorm, rotary positions, a gated
// MLP, shared key/value heads, and Llama's names.
#pragma once

#include "model/families.h"
#include "model/loading/rope_config.h"

namespace headlight {

/// Lists the keys and defaults in which classes differ; the defaults are Llama's.
struct LlamaKeys {
    JsonKey kv_heads = or_null("num_key_value_heads");
    int64_t usual_kv_heads = 0;  // 0: one for each query head
    HeadDim head_dim{or_null("head_dim")};
    JsonKey activation = "hidden_act";
    const char* usual_activation = "silu";
    int64_t usual_width = 4096, usual_heads = 32, usual_layers = 32, usual_mlp = 11008;
    int64_t usual_vocab = 32000, usual_context = 2048;
    bool usual_tied = false;
    JsonKey norm_eps = "rms_norm_eps";
    double usual_norm_eps = 1e-6;
    JsonKey layers = "num_hidden_layers", mlp_width = "intermediate_size";
};

/// Reads the keys that all of them share into a model of equal layers, without rotation.
ModelConfig read_llama_like(ConfigReader& r, const LlamaKeys& keys);

/// Calls change(layer, number) for each layer of the first stack.
template <class Change>
void for_layers(ModelConfig& c, const Change& change) {
    for (int l = 0; l < c.stacks[0].depth(); ++l) change(c.stacks[0].layers[l], l);
}

/// Reads the rotation that all layers share.
void set_rope(ConfigReader& r, ModelConfig& c, const RopeKeys& keys = {});

/// Completes a file that gives no rotary positions.
Json with_rope(const Json& root, const Json& usual);

/// Reads the rotation of each kind of layer, those with a window and those without, from rope_parameters.
void set_rope_by_kind(ConfigReader& r, ModelConfig& c, const RopeKeys& keys = {});

/// Takes the rotation from layers without a window.
inline void rotate_windows_alone(ModelConfig& c) {
    for_layers(c, [](LayerSpec& layer, int) {
        if (!layer.attention.window) layer.attention.rope = {};
    });
}

/// Reads which layers rotate q and k: those that no_rope_layers marks with 1; without it, all but every
/// no_rope_layer_interval-th.
std::vector<bool> rotated_layers(ConfigReader& r, int depth);

/// Sets whether q, k and v, and the output, have biases.
void set_attention_bias(ModelConfig& c, bool qkv, bool output);

/// Reads attention_bias, of q, k, v and the output, and mlp_bias.
void read_biases(ConfigReader& r, ModelConfig& c);

/// Reads sliding_window; null: 0, none.
int read_window(ConfigReader& r, int usual);

inline constexpr const char* kLlamaPrefixes[] = {"model.", "transformer.",
                                                 ""};  // "transformer.": for question answering

inline constexpr TensorRow kLlamaTensors[] = {
    {Slot::token_embedding, "embed_tokens"},
    {Slot::attn_norm, "layers.#.input_layernorm"},
    {Slot::qkv, "layers.#.self_attn.qkv_proj"},
    {Slot::q, "layers.#.self_attn.q_proj"},
    {Slot::k, "layers.#.self_attn.k_proj"},
    {Slot::v, "layers.#.self_attn.v_proj"},
    {Slot::o, "layers.#.self_attn.o_proj"},
    {Slot::q_norm, "layers.#.self_attn.q_norm"},
    {Slot::k_norm, "layers.#.self_attn.k_norm"},
    {Slot::mlp_norm, "layers.#.post_attention_layernorm"},
    {Slot::gate_up, "layers.#.mlp.gate_up_proj"},
    {Slot::gate, "layers.#.mlp.gate_proj"},
    {Slot::up, "layers.#.mlp.up_proj"},
    {Slot::down, "layers.#.mlp.down_proj"},
    {Slot::final_norm, "norm"},
    {Slot::unembedding, "lm_head"},
    {Slot::unembedding_bias, "lm_head.bias"},
};
/// Norms what a block adds too (Gemma 2), or nothing else (OLMo 2).
inline constexpr TensorRow kOutputNorms[] = {
    {Slot::attn_post_norm, "layers.#.post_attention_layernorm"},
    {Slot::mlp_norm, "layers.#.pre_feedforward_layernorm"},
    {Slot::mlp_post_norm, "layers.#.post_feedforward_layernorm"},
};
/// Says that the norm before the MLP is called after attention in GGUF too.
inline constexpr TensorRow kNormAfterAttention[] = {
    {Slot::mlp_norm, "layers.#.post_attention_layernorm", "blk.#.post_attention_norm"},
};
inline constexpr TensorNames kOutputNormNames{kLlamaPrefixes, kOutputNorms, kLlamaTensors};

/// Names Llama's tensors; families with others put their rows in front.
inline constexpr TensorNames kLlamaNames{kLlamaPrefixes, kLlamaTensors};

}  // namespace headlight
