// GPT-2 (Radford et al. 2019): pre-norm, learned positions, q, k and v in one matrix; weights are [in, out].
// GPT (Radford et al. 2018) is post-norm; in GPT-BigCode (Li et al. 2023) all heads may share keys and
// values.
#include "model/families.h"

namespace headlight {

namespace {

/// Holds the defaults in which the classes differ.
struct Gpt2Usual {
    int64_t vocabulary = 50257, context = 1024;
    const char *activation_key = "activation_function", *activation = "gelu_new";
};

/// Reads what all of them share into a model of equal layers.
ModelConfig read_gpt2_like(ConfigReader& r, const Gpt2Usual& usual) {
    ModelConfig c;
    LayerSpec layer;
    r.widths(c, layer.attention, {"hidden_size", "n_embd"}, 768, {"num_attention_heads", "n_head"}, 12);
    StackConfig& s = c.stacks[0];
    const int layers = r.layers({"num_hidden_layers", "n_layer"}, 12);
    layer.mlp.width = r.mlp_width({or_null("n_inner")}, 4 * int64_t{c.d_model});
    s.vocab = c.vocab = r.vocabulary(usual.vocabulary);
    c.context = r.context({"max_position_embeddings", "n_positions"}, usual.context);
    c.positions = PositionScheme::learned;
    c.norm_eps = r.number({"layer_norm_epsilon"}, 1e-5);
    layer.mlp.activation = r.activation({usual.activation_key}, usual.activation);
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    if (!r.boolean({"scale_attn_weights"}, true)) layer.attention.scale = 1;
    s.layers.assign(layers, layer);
    r.refuse_cross_attention();
    return c;
}

Result<ModelConfig> read_gpt2(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_gpt2_like(r, {});
    std::vector<LayerSpec>& layers = c.stacks[0].layers;
    if (r.boolean({"scale_attn_by_inverse_layer_idx"}, false))
        for (size_t l = 0; l < layers.size(); ++l)
            layers[l].attention.scale = layers[l].attention.score_scale() / float(l + 1);
    c.end_id = 50256;
    return r.finish(c);
}

Result<ModelConfig> read_gpt_bigcode(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_gpt2_like(r, {.activation = "gelu_pytorch_tanh"});
    if (r.boolean({"multi_query"}, true))
        for (LayerSpec& layer : c.stacks[0].layers) layer.attention.kv_heads = 1;
    c.end_id = 50256;
    return r.finish(c);
}

/// Reads GPT, whose class scales scores and widens the MLP in one way, and computes "gelu" as gelu_tanh.
Result<ModelConfig> read_openai_gpt(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_gpt2_like(
        r, {.vocabulary = 40478, .context = 512, .activation_key = "afn", .activation = "gelu"});
    for (LayerSpec& layer : c.stacks[0].layers) {
        layer.norms = NormPlace::after;
        layer.attention.scale = 0;
        layer.mlp.width = 4 * c.d_model;
        if (layer.mlp.activation == Activation::gelu) layer.mlp.activation = Activation::gelu_tanh;
    }
    c.final_norm = false;
    return r.finish(c);
}

constexpr const char* kGpt2Prefixes[] = {"transformer.", ""};

constexpr TensorRow kGpt2Tensors[] = {
    {Slot::token_embedding, "wte"},
    {Slot::position_embedding, "wpe"},
    {Slot::attn_norm, "h.#.ln_1"},
    {Slot::qkv, "h.#.attn.c_attn", "", Stored::in_out},
    {Slot::o, "h.#.attn.c_proj", "", Stored::in_out},
    {Slot::mlp_norm, "h.#.ln_2"},
    {Slot::up, "h.#.mlp.c_fc", "", Stored::in_out},
    {Slot::down, "h.#.mlp.c_proj", "", Stored::in_out},
    {Slot::final_norm, "ln_f"},
    {Slot::unembedding, "lm_head"},
    {Slot::unembedding_bias, "lm_head.bias"},
};
constexpr TensorRow kGptBigCodeTensors[] = {
    {Slot::qkv, "h.#.attn.c_attn", "", Stored::by_head},
    {Slot::o, "h.#.attn.c_proj"},
    {Slot::up, "h.#.mlp.c_fc"},
    {Slot::down, "h.#.mlp.c_proj"},
};
constexpr TensorRow kOpenAiGptTensors[] = {
    {Slot::token_embedding, "tokens_embed"},
    {Slot::position_embedding, "positions_embed"},
};
constexpr TensorNames kGptBigCodeNames{kGpt2Prefixes, kGptBigCodeTensors, kGpt2Tensors};
constexpr TensorNames kOpenAiGptNames{kGpt2Prefixes, kOpenAiGptTensors, kGpt2Tensors};

}  // namespace

const Family kGpt2{"gpt2", "GPT-2", read_gpt2, {kGpt2Prefixes, kGpt2Tensors}, {"gpt2", kUsualGgufKeys}};
const Family kGptBigCode{
    "gpt_bigcode", "GPT-BigCode", read_gpt_bigcode, kGptBigCodeNames, {"starcoder", kUsualGgufKeys}};
const Family kOpenAiGpt{"openai-gpt", "GPT", read_openai_gpt, kOpenAiGptNames};

}  // namespace headlight
