// Reads what decoders share whose layers are some attention, some a recurrence (model/mixers/mixing.h).
#pragma once

#include <functional>
#include <vector>

#include "model/families/llama_like.h"

namespace headlight {

/// Reads which layers are recurrences: those that layer_types calls "linear_attention", "conv", or "mamba" in
/// older files; without the list those that `usual` selects.
std::vector<bool> read_recurrent_layers(ConfigReader& r, int depth, const std::function<bool(int)>& usual);

/// Gives those layers this mixer.
void set_recurrences(ModelConfig& c, const std::vector<bool>& recurrent, const AttentionSpec& mixer);

/// Returns a mixer of so many heads, each with keys of its own, and a gate of every component of z.
AttentionSpec mixer_of(int heads, int d_key, int d_value, const RecurrenceSpec& recurrence,
                       const AttentionGate& gate);

/// Fails unless what follows the convolution is SiLU.
void check_silu(ConfigReader& r, const char* key);

/// Holds defaults of a gated delta net; 0: of the heads, as many as attention has.
struct DeltaNetKeys {
    int key_heads = 16, value_heads = 32, d_key = 128, d_value = 128;
    float strength = 1, norm_eps = 0;
};
/// Reads a gated delta net by the keys linear_….
AttentionSpec read_delta_net(ConfigReader& r, const DeltaNetKeys& usual);

/// Names the keys of a Mamba-2 mixer, with its defaults.
struct StateSpaceKeys {
    const char *heads = "mamba_n_heads", *d_head = "mamba_d_head", *groups = "mamba_n_groups",
               *d_state = "mamba_d_state", *kernel = "mamba_d_conv", *expand = "mamba_expand",
               *kernel_bias = "mamba_conv_bias", *bias = "mamba_proj_bias", *activation = "hidden_act";
    const char* inner = nullptr;  // width of all heads together; null: expand · d_model
    int usual_heads = 128, usual_groups = 1, usual_state = 256, usual_inner = 0;
    int usual_head = 0;      // width of a head; 0: that of all / heads
    bool any_width = false;  // the heads need not make that of all together
};
/// Reads a Mamba-2 mixer.
AttentionSpec read_state_space(ConfigReader& r, int d_model, const StateSpaceKeys& keys);

/// Returns whether convolutions of mixers have biases in a GGUF file.
bool has_kernel_biases(const Gguf& file);

/// Adds a gated delta net's keys linear_… and the interval of attention to a config.json, as a GGUF file has
/// them.
Status complete_delta_net(const Gguf& file, const std::string& name, Json& config);

/// Adds a Mamba-2 mixer's sizes under these keys.
Status complete_state_space(const Gguf& file, const std::string& name, const StateSpaceKeys& keys,
                            Json& config);

/// Reads which layers of a GGUF file are attention, those with heads of keys, into layer_types; `other` names
/// the kind of the others.
Status complete_layer_kinds(const Gguf& file, const std::string& name, const char* other, Json& config);

/// Names the tensors of models whose layers are mixers (Mamba, Nemotron-H); of mixers among attention (Jamba,
/// Bamba).
inline constexpr const char* kMambaPrefixes[] = {"backbone.", "model.", ""};
inline constexpr TensorRow kMixerTensors[] = {
    {Slot::token_embedding, "embeddings"},
    {Slot::attn_norm, "layers.#.norm"},
    {Slot::mixer_in, "layers.#.mixer.in_proj"},
    {Slot::mixer_kernel, "layers.#.mixer.conv1d.weight", "", Stored::kernels},
    {Slot::mixer_kernel_bias, "layers.#.mixer.conv1d.bias"},
    {Slot::step_bias, "layers.#.mixer.dt_bias"},
    {Slot::decay_rate, "layers.#.mixer.A_log"},
    {Slot::skip, "layers.#.mixer.D"},
    {Slot::gate_norm, "layers.#.mixer.norm.weight"},
    {Slot::o, "layers.#.mixer.out_proj"},
    {Slot::o, "layers.#.mixer.o_proj"},
    {Slot::final_norm, "norm_f"},
    {Slot::unembedding, "lm_head"},
};
inline constexpr TensorRow kMambaTensors[] = {
    {Slot::mixer_in, "layers.#.mamba.in_proj"},
    {Slot::mixer_kernel, "layers.#.mamba.conv1d.weight", "", Stored::kernels},
    {Slot::mixer_kernel_bias, "layers.#.mamba.conv1d.bias"},
    {Slot::step_bias, "layers.#.mamba.dt_bias"},
    {Slot::decay_rate, "layers.#.mamba.A_log"},
    {Slot::skip, "layers.#.mamba.D"},
    {Slot::gate_norm, "layers.#.mamba.norm.weight"},
    {Slot::o, "layers.#.mamba.out_proj"},
    {Slot::o, "layers.#.self_attn.o_proj"},
};

}  // namespace headlight
