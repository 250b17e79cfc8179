// Falcon (Almazrouei et al. 2023): attention and MLP in parallel, through one norm or two, with one key/value
// head or few, and rotary positions; Falcon-RW: in sequence, with as many as query heads, and ALiBi.
#include <cmath>

#include "model/families.h"
#include "model/loading/rope_config.h"

namespace headlight {

namespace {

/// Reads how attention and MLP are joined; the class cannot compute other combinations.
void read_falcon_order(ConfigReader& r, LayerSpec& layer, bool new_decoder) {
    layer.parallel = r.boolean({or_null("parallel_attn")}, true);
    const int norms = r.integer({or_null("num_ln_in_parallel_attn")}, new_decoder ? 2 : 1, 0, 1 << 10);
    layer.shared_norm = layer.parallel && norms != 2;
    if (new_decoder ? layer.parallel && (norms == 1 || norms == 2) : !layer.parallel || norms != 2) return;
    r.fail(
        r.file() +
        ": parallel_attn, new_decoder_architecture and num_ln_in_parallel_attn do not go together; correct "
        "the file.");
}

void read_falcon_positions(ConfigReader& r, ModelConfig& c, LayerSpec& layer) {
    if (!r.boolean({or_null("alibi")}, false)) {
        layer.attention.rope = read_rope(r, c, layer.attention.d_head);
        return;
    }
    c.positions = PositionScheme::alibi;
    c.context = kNoLongestText;
    c.alibi = {.scale = 1 / std::sqrt(float(layer.attention.d_head)), .bfloat16 = true};
}

Result<ModelConfig> read_falcon(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    LayerSpec layer;
    AttentionSpec& attention = layer.attention;
    r.widths(c, attention, {or_null("n_embed"), "hidden_size"}, 4544, {"num_attention_heads"}, 71);
    const bool new_decoder = r.boolean({or_null("new_decoder_architecture")}, false);
    if (new_decoder)
        r.kv_heads(attention, or_null("num_kv_heads"), attention.heads);
    else if (r.boolean({or_null("multi_query")}, true))
        attention.kv_heads = 1;
    const int layers = r.layers({"num_hidden_layers"}, 32);
    layer.mlp.width = r.mlp_width({or_null("ffn_hidden_size")}, 4 * int64_t{c.d_model});
    c.stacks[0].vocab = c.vocab = r.vocabulary(65024);
    c.context = r.context({"max_position_embeddings"}, 2048);
    c.norm_eps = r.number({"layer_norm_epsilon"}, 1e-5);
    layer.mlp.activation = r.activation({"activation"}, "gelu");
    read_falcon_order(r, layer, new_decoder);
    attention.bias = attention.output_bias = layer.mlp.bias = r.boolean({or_null("bias")}, false);
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    read_falcon_positions(r, c, layer);
    c.stacks[0].layers.assign(layers, layer);
    c.end_id = 11;
    return r.finish(c);
}

constexpr const char* kFalconPrefixes[] = {"transformer.", ""};

constexpr TensorRow kFalconTensors[] = {
    {Slot::token_embedding, "word_embeddings"},
    {Slot::attn_norm, "h.#.ln_attn", "blk.#.attn_norm_2"},
    {Slot::attn_norm, "h.#.input_layernorm", "blk.#.attn_norm"},
    {Slot::qkv, "h.#.self_attention.query_key_value", "", Stored::by_head},
    {Slot::o, "h.#.self_attention.dense"},
    {Slot::mlp_norm, "h.#.ln_mlp", "blk.#.attn_norm"},
    {Slot::mlp_norm, "h.#.post_attention_layernorm"},
    {Slot::up, "h.#.mlp.dense_h_to_4h"},
    {Slot::down, "h.#.mlp.dense_4h_to_h"},
    {Slot::final_norm, "ln_f"},
    {Slot::unembedding, "lm_head"},
};

/// Says how the blocks are joined: in parallel, with two norms if the file holds two.
Status complete_falcon(const Gguf& file, const std::string&, Json& config) {
    config["new_decoder_architecture"] = true;
    config["num_ln_in_parallel_attn"] = file.tensors.count("blk.0.attn_norm_2.weight") ? 2 : 1;
    return success();
}

}  // namespace

const Family kFalcon{"falcon",
                     "Falcon",
                     read_falcon,
                     {kFalconPrefixes, kFalconTensors},
                     {"falcon", kUsualGgufKeys, false, complete_falcon}};

}  // namespace headlight
