// Llama and its closest relatives (Touvron et al. 2023): RMSNorm, rotary positions, gated MLP, shared
// key/value heads. Mistral adds a sliding window, Qwen2 biases on q, k and v, Qwen3 a norm on q and k.
#include <algorithm>

#include "model/families/llama_like.h"

namespace headlight {

ModelConfig read_llama_like(ConfigReader& r, const LlamaKeys& keys) {
    ModelConfig c;
    LayerSpec layer;
    AttentionSpec& attention = layer.attention;
    r.widths(c, attention, {"hidden_size"}, keys.usual_width, {"num_attention_heads"}, keys.usual_heads,
             keys.head_dim);
    r.kv_heads(attention, keys.kv_heads, keys.usual_kv_heads ? keys.usual_kv_heads : attention.heads);
    const int layers = r.layers({keys.layers}, keys.usual_layers);
    layer.mlp.width = r.mlp_width({keys.mlp_width}, keys.usual_mlp);
    StackConfig& s = c.stacks[0];
    s.vocab = c.vocab = r.vocabulary(keys.usual_vocab);
    c.context = r.context({"max_position_embeddings"}, keys.usual_context);
    c.norm = NormKind::rms_norm;
    c.norm_eps = r.number({keys.norm_eps}, keys.usual_norm_eps);
    c.norm_bias = layer.mlp.bias = attention.bias = attention.output_bias = false;
    layer.mlp.activation = r.activation({keys.activation}, keys.usual_activation);
    layer.mlp.gated = true;
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, keys.usual_tied);
    s.layers.assign(layers, layer);
    return c;
}

void set_rope(ConfigReader& r, ModelConfig& c, const RopeKeys& keys) {
    const Rope rope = read_rope(r, c, c.stacks[0].layers[0].attention.d_head, keys);
    for_layers(c, [&](LayerSpec& layer, int) { layer.attention.rope = rope; });
}

void set_rope_by_kind(ConfigReader& r, ModelConfig& c, const RopeKeys& keys) {
    std::vector<LayerSpec>& layers = c.stacks[0].layers;
    for (const bool sliding : {false, true}) {
        const auto own = [sliding](const LayerSpec& layer) {
            return (layer.attention.window > 0) == sliding;
        };
        const auto first = std::find_if(layers.begin(), layers.end(), own);
        if (first == layers.end()) continue;
        const char* kind = sliding ? "sliding_attention" : "full_attention";
        const Rope rope = read_rope_of_kind(r, c, first->attention.d_head, kind, keys, false);
        for (LayerSpec& layer : layers)
            if (own(layer)) layer.attention.rope = rope;
    }
}

Json with_rope(const Json& root, const Json& usual) {
    const auto stated = [&](const char* key) { return json_find(root, or_null(key)) != nullptr; };
    if (stated("rope_scaling") || stated("rope_parameters")) return root;
    Json out = root;
    out["rope_parameters"] = usual;
    return out;
}

void set_attention_bias(ModelConfig& c, bool qkv, bool output) {
    for_layers(c, [&](LayerSpec& layer, int) {
        layer.attention.bias = qkv;
        layer.attention.output_bias = output;
    });
}

void read_biases(ConfigReader& r, ModelConfig& c) {
    const bool attention = r.boolean({"attention_bias"}, false), mlp = r.boolean({"mlp_bias"}, false);
    set_attention_bias(c, attention, attention);
    for_layers(c, [&](LayerSpec& layer, int) { layer.mlp.bias = mlp; });
}

int read_window(ConfigReader& r, int usual) {
    if (r.is_null("sliding_window") || (usual == 0 && !r.has("sliding_window"))) return 0;
    return r.integer({"sliding_window"}, usual, 1, 1 << 24);
}

namespace {

Result<ModelConfig> read_llama(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {});
    read_biases(r, c);
    set_rope(r, c);
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelConfig> read_mistral(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "num_key_value_heads",
                                        .usual_kv_heads = 8,
                                        .usual_mlp = 14336,
                                        .usual_context = 4096 * 32});
    const int window = read_window(r, 4096);
    for_layers(c, [&](LayerSpec& layer, int) { layer.attention.window = window; });
    set_rope(r, c);
    c.end_id = 2;
    return r.finish(c);
}

/// Applies Qwen's window only if use_sliding_window is set, in the layers from max_window_layers on.
void read_qwen_window(ConfigReader& r, StackConfig& s) {
    if (!r.boolean({"use_sliding_window"}, false) || r.is_null("sliding_window")) return;
    const int window = r.integer({"sliding_window"}, 4096, 1, 1 << 24),
              first = r.integer({"max_window_layers"}, 28, 0, 1000);
    r.windows(s, window, [first](int l) { return l >= first; });
}

/// Lists Qwen's defaults.
LlamaKeys qwen_keys(const HeadDim& head_dim) {
    return {.usual_kv_heads = 32,
            .head_dim = head_dim,
            .usual_mlp = 22016,
            .usual_vocab = 151936,
            .usual_context = 32768};
}

Result<ModelConfig> read_qwen2(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, qwen_keys({"head_dim"}));
    set_attention_bias(c, true, false);
    read_qwen_window(r, c.stacks[0]);
    set_rope(r, c, {.reads_layer_types = true});
    return r.finish(c);
}

Result<ModelConfig> read_qwen3(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, qwen_keys({"head_dim", 128}));
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    for_layers(c, [](LayerSpec& layer, int) { layer.attention.qk_norm = QkNorm::per_head; });
    read_qwen_window(r, c.stacks[0]);
    set_rope(r, c, {.reads_layer_types = true});
    return r.finish(c);
}

/// Names Mixtral's class, whose architecture in GGUF is Llama's.
Status complete_llama(const Gguf& file, const std::string&, Json& config) {
    const Json& experts = file.value("llama.expert_count");
    if (experts.is_number() && experts > 0) config["model_type"] = "mixtral";
    return success();
}

}  // namespace

const Family kLlama{
    "llama", "Llama", read_llama, kLlamaNames, {"llama", kUsualGgufKeys, true, complete_llama}};
const Family kMistral{"mistral", "Mistral", read_mistral, kLlamaNames};
const Family kQwen2{"qwen2", "Qwen2", read_qwen2, kLlamaNames, {"qwen2", kUsualGgufKeys}};
const Family kQwen3{"qwen3", "Qwen3", read_qwen3, kLlamaNames, {"qwen3", kUsualGgufKeys}};

}  // namespace headlight
