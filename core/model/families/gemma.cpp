// Gemma (Gemma Team 2024): Llama's layers with scaled embeddings. Gemma 2 also norms the outputs of blocks,
// has a window in every other layer and soft caps; VaultGemma has no such norms. Gemma 3 norms q and k
// instead of capping scores, and rotates layers with a window at a frequency of their own.
#include <cmath>

#include "model/families/llama_like.h"

namespace headlight {

namespace {

/// Applies the traits of all generations: norm weights less 1, embeddings times √d_model.
void make_gemma(ConfigReader& r, ModelConfig& c) {
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    c.norm_weight_offset = 1;
    c.embed_scale = std::sqrt(float(c.d_model));
    c.end_id = 1;
}

Result<ModelConfig> read_gemma(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {"num_key_value_heads",
                                        16,
                                        {"head_dim", 256},
                                        "hidden_act",
                                        "gelu_pytorch_tanh",
                                        3072,
                                        16,
                                        28,
                                        24576,
                                        256000,
                                        8192,
                                        true});
    // its class computes "gelu" as gelu_tanh
    for_layers(c, [](LayerSpec& layer, int) {
        if (layer.mlp.activation == Activation::gelu) layer.mlp.activation = Activation::gelu_tanh;
    });
    make_gemma(r, c);
    set_rope(r, c);
    return r.finish(c);
}

/// Reads what Gemma 2, 3 and VaultGemma share; every `full`-th layer sees all keys.
ModelConfig read_gemma2_like(ConfigReader& r, int vocab, int context, int full) {
    ModelConfig c = read_llama_like(r, {"num_key_value_heads",
                                        4,
                                        {"head_dim", 256},
                                        "hidden_activation",
                                        "gelu_pytorch_tanh",
                                        2304,
                                        8,
                                        26,
                                        9216,
                                        vocab,
                                        context,
                                        true});
    make_gemma(r, c);
    const float scale = 1 / std::sqrt(float(r.positive(r.root(), "query_pre_attn_scalar", 256)));
    for_layers(c, [&](LayerSpec& layer, int) {
        layer.norms = NormPlace::both;
        layer.attention.scale = scale;
    });
    r.windows(c.stacks[0], r.integer({"sliding_window"}, 4096, 1, 1 << 24),
              [full](int layer) { return (layer + 1) % full != 0; });
    return c;
}

Result<ModelConfig> read_gemma2(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_gemma2_like(r, 256000, 8192, 2);
    const float cap = r.cap("attn_logit_softcapping", 50);
    for_layers(c, [&](LayerSpec& layer, int) { layer.attention.cap = cap; });
    c.logit_cap = r.cap("final_logit_softcapping", 30);
    set_rope(r, c, {.reads_layer_types = true});
    return r.finish(c);
}

Result<ModelConfig> read_vaultgemma(const Json& root, const std::string& file) {
    TRY(ModelConfig c, read_gemma2(root, file));
    for_layers(c, [](LayerSpec& layer, int) { layer.norms = NormPlace::before; });
    return c;
}

/// Shows later tokens too (EmbeddingGemma); half of a window lies on either side.
void see_both_sides(ModelConfig& c) {
    c.stacks[0].causal = false;
    for_layers(c, [](LayerSpec& layer, int) {
        if (int& window = layer.attention.window) window = window / 2 + 1;
    });
}

Result<ModelConfig> read_gemma3_text(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    const int full = r.integer({"sliding_window_pattern"}, 6, 1, 1000);
    ModelConfig c = read_gemma2_like(r, 262208, 131072, full);
    if (r.boolean({or_null("use_bidirectional_attention")}, false)) see_both_sides(c);
    c.logit_cap = r.cap("final_logit_softcapping", 0);
    const int d_head = c.stacks[0].layers[0].attention.d_head;
    const Rope global = read_rope_of_kind(r, c, d_head, "full_attention", {.usual_theta = 1e6}, true),
               local = read_rope_of_kind(r, c, d_head, "sliding_attention", {.theta = "rope_local_base_freq"},
                                         false);
    for_layers(c, [&](LayerSpec& layer, int) {
        layer.attention.qk_norm = QkNorm::per_head;
        layer.attention.rope = layer.attention.window ? local : global;
    });
    return r.finish(c);
}

/// Reads the text part of a model that also reads images.
Result<ModelConfig> read_gemma3(const Json& root, const std::string& file) {
    TRY(Json text, json_object(root, "text_config", file));
    if (const Json* tied = json_find(root, or_null("tie_word_embeddings")))
        text["tie_word_embeddings"] = *tied;
    TRY(ModelConfig c, read_gemma3_text(text, file));
    c.logit_cap = 0;  // the class of the whole model caps no logits
    return c;
}

/// Reads one half of T5Gemma: a Gemma 2, whose windows reach as far to both sides if it reads both ways.
Result<ModelConfig> read_t5gemma_half(const Json& root, const char* key, const std::string& file) {
    TRY(const Json half, json_object(root, key, file));
    TRY(ModelConfig c, read_gemma2(half, file));
    c.stacks[0].name = key;
    return c;
}

/// Reads an encoder and a decoder that are Gemma 2 (Zhang et al. 2025); only self-attention rotates.
Result<ModelConfig> read_t5gemma(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    TRY(ModelConfig encoder, read_t5gemma_half(root, "encoder", file));
    TRY(ModelConfig c, read_t5gemma_half(root, "decoder", file));
    if (encoder.d_model != c.d_model || encoder.norm_eps != c.norm_eps)
        return Error{file +
                     ": an encoder and a decoder of different hidden_size or rms_norm_eps are not computed; "
                     "use a T5Gemma of two equal halves, such as t5gemma-2b-2b."};
    StackConfig &source = encoder.stacks[0], &target = c.stacks[0];
    source.causal = false;
    source.context = encoder.context;
    for (LayerSpec& layer : source.layers)
        if (layer.attention.window) ++layer.attention.window;
    target.source = 0;
    for (LayerSpec& layer : target.layers) {
        layer.second = layer.attention;
        layer.second->rope = {};
        layer.second->window = 0;
    }
    c.stacks.insert(c.stacks.begin(), source);
    c.kind = ModelKind::encoder_decoder;
    c.shared_embedding = false;
    c.vocab = r.vocabulary(256000);
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    c.start_id = r.integer({or_null("decoder_start_token_id"), or_null("bos_token_id")}, 2, 0, 1 << 23);
    return r.finish(std::move(c));
}

/// Computes query_pre_attn_scalar, which GGUF omits: the width of a head, but in the 27B models, recognized
/// by their 46 (Gemma 2) or 62 layers, d_model / heads.
Status complete_gemma(const Gguf& file, const std::string&, Json& config) {
    config["use_bidirectional_attention"] = file.value("general.architecture") == "gemma-embedding";
    const auto number = [&](const char* key) {
        return config.contains(key) && config[key].is_number() ? config[key].get<double>() : 0.0;
    };
    const double layers = number("num_hidden_layers"), heads = number("num_attention_heads");
    if (heads > 0 && layers == (config["model_type"] == "gemma2" ? 46 : 62))
        config["query_pre_attn_scalar"] = number("hidden_size") / heads;
    else if (config.contains("head_dim"))
        config["query_pre_attn_scalar"] = config["head_dim"];
    return success();
}

constexpr const char *kGemma3Prefixes[] = {"model.language_model.", "language_model.model.",
                                           "language_model.", "model.", ""},
                     *kT5GemmaPrefixes[] = {"model.", ""};

constexpr TensorRow kT5GemmaTensors[] = {
    {Slot::token_embedding, "@.embed_tokens"},
    {Slot::attn_norm, "@.layers.#.pre_self_attn_layernorm"},
    {Slot::q, "@.layers.#.self_attn.q_proj"},
    {Slot::k, "@.layers.#.self_attn.k_proj"},
    {Slot::v, "@.layers.#.self_attn.v_proj"},
    {Slot::o, "@.layers.#.self_attn.o_proj"},
    {Slot::attn_post_norm, "@.layers.#.post_self_attn_layernorm"},
    {Slot::cross_norm, "@.layers.#.pre_cross_attn_layernorm"},
    {Slot::cross_q, "@.layers.#.cross_attn.q_proj"},
    {Slot::cross_k, "@.layers.#.cross_attn.k_proj"},
    {Slot::cross_v, "@.layers.#.cross_attn.v_proj"},
    {Slot::cross_o, "@.layers.#.cross_attn.o_proj"},
    {Slot::cross_post_norm, "@.layers.#.post_cross_attn_layernorm"},
    {Slot::mlp_norm, "@.layers.#.pre_feedforward_layernorm"},
    {Slot::gate, "@.layers.#.mlp.gate_proj"},
    {Slot::up, "@.layers.#.mlp.up_proj"},
    {Slot::down, "@.layers.#.mlp.down_proj"},
    {Slot::mlp_post_norm, "@.layers.#.post_feedforward_layernorm"},
    {Slot::final_norm, "@.norm"},
    {Slot::unembedding, "lm_head.out_proj"},
};

}  // namespace

const Family kGemma{"gemma", "Gemma", read_gemma, kLlamaNames, {"gemma", kUsualGgufKeys}};
const Family kGemma2{
    "gemma2", "Gemma 2", read_gemma2, kOutputNormNames, {"gemma2", kUsualGgufKeys, false, complete_gemma}};
const Family kGemma3Text{"gemma3_text",
                         "Gemma 3",
                         read_gemma3_text,
                         kOutputNormNames,
                         {"gemma3", kUsualGgufKeys, false, complete_gemma, "{}", "gemma-embedding"}};
const Family kGemma3{
    "gemma3", "Gemma 3 (text part)", read_gemma3, {kGemma3Prefixes, kOutputNorms, kLlamaTensors}};
const Family kT5Gemma{"t5gemma", "T5Gemma", read_t5gemma, {kT5GemmaPrefixes, kT5GemmaTensors}};
const Family kVaultGemma{"vaultgemma", "VaultGemma", read_vaultgemma, kOutputNormNames};

}  // namespace headlight
