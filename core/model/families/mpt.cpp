// MPT (MosaicML 2023): ALiBi instead of position embeddings, no biases at all.
#include "model/families.h"

namespace headlight {

namespace {

/// Reads attn_config, of which the class computes the scale of scores.
void read_mpt_attention(ConfigReader& r, AttentionSpec& attention) {
    const Json options = r.object("attn_config");
    if (json_find(options, or_null("softmax_scale")))
        attention.scale = float(r.positive(options, "softmax_scale", 1));
    if (r.positive(options, "alibi_bias_max", 8) !=
        8)  // transformers takes 8 whatever it says, MPT's own code not
        r.fail(
            r.file() +
            ": alibi_bias_max other than 8 is not computed, because programs differ in what they make of it; "
            "use a model with 8, such as MPT-7B.");
    if (r.keep(json_number(options, or_null("clip_qkv"), 0, r.file()), 0.0) != 0)
        attention.clip = float(r.positive(options, "clip_qkv", 1));
}

Result<ModelConfig> read_mpt(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    LayerSpec layer;
    r.widths(c, layer.attention, {"hidden_size", "d_model"}, 2048, {"num_attention_heads", "n_heads"}, 16);
    const int layers = r.layers({"num_hidden_layers", "n_layers"}, 24);
    layer.mlp.width = 4 * c.d_model;
    c.stacks[0].vocab = c.vocab = r.vocabulary(50368);
    c.context = r.context({"max_seq_len"}, 2048);
    c.positions = PositionScheme::alibi;
    read_mpt_attention(r, layer.attention);
    c.norm_eps = r.number({"layer_norm_epsilon"}, 1e-5);
    layer.mlp.activation = Activation::gelu;
    c.norm_bias = layer.attention.bias = layer.attention.output_bias = layer.mlp.bias = false;
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    c.stacks[0].layers.assign(layers, layer);
    c.end_id = 0;
    return r.finish(c);
}

constexpr const char* kMptPrefixes[] = {"transformer.", ""};

constexpr TensorRow kMptTensors[] = {
    {Slot::token_embedding, "wte"},         {Slot::attn_norm, "blocks.#.norm_1"},
    {Slot::qkv, "blocks.#.attn.Wqkv"},      {Slot::o, "blocks.#.attn.out_proj"},
    {Slot::mlp_norm, "blocks.#.norm_2"},    {Slot::up, "blocks.#.ffn.up_proj"},
    {Slot::down, "blocks.#.ffn.down_proj"}, {Slot::final_norm, "norm_f"},
    {Slot::unembedding, "lm_head"},
};

/// Moves what GGUF says of attention to where config.json says it; without ALiBi's steepness there is no
/// ALiBi.
Status complete_mpt(const Gguf& file, const std::string&, Json& config) {
    const Json& steepness = file.value("mpt.attention.max_alibi_bias");
    config["attn_config"] = {{"alibi_bias_max", steepness.is_null() ? Json(0) : steepness},
                             {"clip_qkv", file.value("mpt.attention.clamp_kqv")}};
    return success();
}

}  // namespace

const Family kMpt{
    "mpt", "MPT", read_mpt, {kMptPrefixes, kMptTensors}, {"mpt", kUsualGgufKeys, false, complete_mpt}};

}  // namespace headlight
