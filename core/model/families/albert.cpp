// ALBERT (Lan et al. 2020): narrow embeddings, and layers that share their weights in groups.
#include "base/cast.h"
#include "model/families.h"

namespace headlight {

namespace {

Result<ModelConfig> read_albert(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    c.kind = ModelKind::encoder;
    LayerSpec layer;
    r.widths(c, layer.attention, {"hidden_size"}, 4096, {"num_attention_heads"}, 64);
    c.d_embed = r.integer({"embedding_size"}, 128, 1, 1 << 17);
    StackConfig& s = c.stacks[0];
    s.causal = false;
    const int layers = r.layers({"num_hidden_layers"}, 12);
    layer.mlp.width = r.mlp_width({"intermediate_size"}, 16384);
    s.vocab = c.vocab = r.vocabulary(30000);
    const int groups = r.integer({"num_hidden_groups"}, 1, 1, layers);
    c.context = r.context({"max_position_embeddings"}, 512);
    c.token_types = r.integer({"type_vocab_size"}, 2, 1, 1 << 10);
    layer.norms = NormPlace::after;
    c.norm_eps = r.number({"layer_norm_eps"}, 1e-12);
    c.final_norm = false;
    c.embed_norm = c.mlm_head = c.embed_project = true;
    c.positions = PositionScheme::learned;
    layer.mlp.activation = c.head_activation = r.activation({"hidden_act"}, "gelu_new");
    s.layers.assign(layers, layer);
    for (int l = 0; l < layers; ++l) s.layers[l].group = narrow<int>(int64_t{l} * groups / layers);
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    if (r.integer({"inner_group_num"}, 1, 1, 1000) != 1)
        r.fail(file +
               ": inner_group_num other than 1 is not supported; use one of the published ALBERT models.");
    return r.finish(c);
}

constexpr const char* kAlbertPrefixes[] = {"albert.", ""};

constexpr TensorRow kAlbertTensors[] = {
    {Slot::token_embedding, "embeddings.word_embeddings"},
    {Slot::position_embedding, "embeddings.position_embeddings"},
    {Slot::type_embedding, "embeddings.token_type_embeddings"},
    {Slot::embed_norm, "embeddings.LayerNorm"},
    {Slot::embed_project, "encoder.embedding_hidden_mapping_in"},
    {Slot::q, "encoder.albert_layer_groups.#.albert_layers.0.attention.query"},
    {Slot::k, "encoder.albert_layer_groups.#.albert_layers.0.attention.key"},
    {Slot::v, "encoder.albert_layer_groups.#.albert_layers.0.attention.value"},
    {Slot::o, "encoder.albert_layer_groups.#.albert_layers.0.attention.dense"},
    {Slot::attn_norm, "encoder.albert_layer_groups.#.albert_layers.0.attention.LayerNorm"},
    {Slot::up, "encoder.albert_layer_groups.#.albert_layers.0.ffn"},
    {Slot::down, "encoder.albert_layer_groups.#.albert_layers.0.ffn_output"},
    {Slot::mlp_norm, "encoder.albert_layer_groups.#.albert_layers.0.full_layer_layer_norm"},
    {Slot::head_dense, "predictions.dense"},
    {Slot::head_norm, "predictions.LayerNorm"},
    {Slot::unembedding, "predictions.decoder"},
    {Slot::unembedding_bias, "predictions.decoder.bias"},
    {Slot::unembedding_bias, "predictions.bias"},
};

}  // namespace

const Family kAlbert{"albert", "ALBERT", read_albert, {kAlbertPrefixes, kAlbertTensors}};

}  // namespace headlight
