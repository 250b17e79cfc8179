// ModernBERT (Warner et al. 2024): pre-norm encoder, rotary positions, every third layer global. Ettin
// (Weller et al. 2025) makes a decoder of it, whose windows are half as wide.
#include "model/families.h"
#include "model/loading/rope_config.h"

namespace headlight {

namespace {

/// Reads the rotation of global layers, and that of layers with a window; rope_scaling applies to both.
std::pair<Rope, Rope> read_ropes(ConfigReader& r, const ModelConfig& c, int d_head) {
    const RopeKeys of_global{.theta = "global_rope_theta", .usual_theta = 160000};
    const Rope global = read_rope_of_kind(r, c, d_head, "full_attention", of_global, true);
    const RopeKeys of_local{.theta = or_null("local_rope_theta"),
                            .usual_theta = r.is_null("local_rope_theta") ? global.theta : 10000};
    return {global, read_rope_of_kind(r, c, d_head, "sliding_attention", of_local, true)};
}

/// Reads all but the direction; window: of the layers that have one.
ModelConfig read_modernbert_common(ConfigReader& r, int window) {
    ModelConfig c;
    LayerSpec layer;
    r.widths(c, layer.attention, {"hidden_size"}, 768, {"num_attention_heads"}, 12);
    StackConfig& s = c.stacks[0];
    const int layers = r.layers({"num_hidden_layers"}, 22);
    layer.mlp.width = r.mlp_width({"intermediate_size"}, 1152);
    s.vocab = c.vocab = r.vocabulary(50368);
    c.context = r.context({"max_position_embeddings"}, 8192);
    c.norm_eps = r.number({"norm_eps"}, 1e-5);
    c.norm_bias = r.boolean({"norm_bias"}, false);
    layer.attention.bias = layer.attention.output_bias = r.boolean({"attention_bias"}, false);
    layer.mlp.bias = r.boolean({"mlp_bias"}, false);
    c.embed_norm = c.mlm_head = layer.mlp.gated = true;
    layer.mlp.activation = r.activation({"hidden_activation"}, "gelu");
    c.head_activation = r.activation({"classifier_activation"}, "gelu");
    c.head_dense_bias = r.boolean({"classifier_bias"}, false);
    c.head_bias = r.boolean({"decoder_bias"}, true);
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    const int every = r.integer({"global_attn_every_n_layers"}, 3, 1, 1000);
    s.layers.assign(layers, layer);
    s.layers[0].attention.norm = false;
    r.windows(s, window, [every](int l) { return l % every != 0; });
    const auto [global, local] = read_ropes(r, c, layer.attention.d_head);
    for (LayerSpec& l : s.layers) l.attention.rope = l.attention.window ? local : global;
    return c;
}

Result<ModelConfig> read_modernbert(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_modernbert_common(r, r.integer({"local_attention"}, 128, 1, 1 << 24) / 2 + 1);
    c.kind = ModelKind::encoder;
    c.stacks[0].causal = false;
    return r.finish(c);
}

Result<ModelConfig> read_modernbert_decoder(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    const int half = r.integer({"local_attention"}, 128, 2, 1 << 24) / 2;
    ModelConfig c = read_modernbert_common(r, r.integer({"sliding_window"}, half, 1, 1 << 24));
    c.end_id = 50282;
    return r.finish(c);
}

constexpr const char* kModernBertPrefixes[] = {"model.", ""};

constexpr TensorRow kModernBertTensors[] = {
    {Slot::token_embedding, "embeddings.tok_embeddings"},
    {Slot::embed_norm, "embeddings.norm"},
    {Slot::attn_norm, "layers.#.attn_norm"},
    {Slot::qkv, "layers.#.attn.Wqkv"},
    {Slot::o, "layers.#.attn.Wo"},
    {Slot::mlp_norm, "layers.#.mlp_norm"},
    {Slot::gate_up, "layers.#.mlp.Wi", "blk.#.ffn_up"},
    {Slot::down, "layers.#.mlp.Wo"},
    {Slot::final_norm, "final_norm"},
    {Slot::head_dense, "head.dense"},
    {Slot::head_norm, "head.norm"},
    {Slot::unembedding, "decoder"},
    {Slot::unembedding_bias, "decoder.bias"},
};
constexpr TensorRow kModernBertDecoderTensors[] = {
    {Slot::q, "layers.#.attn.q_proj"},   {Slot::k, "layers.#.attn.k_proj"}, {Slot::v, "layers.#.attn.v_proj"},
    {Slot::head_dense, "lm_head.dense"}, {Slot::head_norm, "lm_head.norm"},
};

constexpr GgufNames kModernBertKeys[] = {{"hidden_size", "embedding_length"},
                                         {"num_hidden_layers", "block_count"},
                                         {"num_attention_heads", "attention.head_count"},
                                         {"intermediate_size", "feed_forward_length"},
                                         {"max_position_embeddings", "context_length"},
                                         {"local_attention", "attention.sliding_window"},
                                         {"global_rope_theta", "rope.freq_base"},
                                         {"local_rope_theta", "rope.freq_base_swa"},
                                         {"hidden_activation", "hidden_activation"}};

/// Names the pattern of layers with a window, and what llama.cpp takes where a file does not tell.
Status complete_modernbert(const Gguf&, const std::string&, Json& config) {
    if (config.contains("sliding_window_pattern"))
        config["global_attn_every_n_layers"] = config["sliding_window_pattern"];
    if (!config.contains("local_attention")) config["local_attention"] = 1 << 24;
    if (!config.contains("global_rope_theta")) config["global_rope_theta"] = 10000;
    if (!config.contains("local_rope_theta")) config["local_rope_theta"] = config["global_rope_theta"];
    return success();
}

}  // namespace

const Family kModernBert{"modernbert",
                         "ModernBERT",
                         read_modernbert,
                         {kModernBertPrefixes, kModernBertTensors},
                         {"modern-bert", kModernBertKeys, false, complete_modernbert}};
const Family kModernBertDecoder{"modernbert-decoder",
                                "ModernBERT decoder",
                                read_modernbert_decoder,
                                {kModernBertPrefixes, kModernBertDecoderTensors, kModernBertTensors}};

}  // namespace headlight
