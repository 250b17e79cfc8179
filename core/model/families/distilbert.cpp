// DistilBERT (Sanh et al. 2019): BERT without token types, under other names.
#include "model/families.h"

namespace headlight {

namespace {

Result<ModelConfig> read_distilbert(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    c.kind = ModelKind::encoder;
    LayerSpec layer;
    r.widths(c, layer.attention, {"hidden_size", "dim"}, 768, {"num_attention_heads", "n_heads"}, 12);
    StackConfig& s = c.stacks[0];
    s.causal = false;
    const int layers = r.layers({"num_hidden_layers", "n_layers"}, 6);
    layer.mlp.width = r.mlp_width({"hidden_dim"}, 4 * 768);
    s.vocab = c.vocab = r.vocabulary(30522);
    c.context = r.context({"max_position_embeddings"}, 512);
    layer.norms = NormPlace::after;
    c.norm_eps = 1e-12f;
    c.final_norm = false;
    c.embed_norm = c.mlm_head = true;
    c.positions = PositionScheme::learned;
    layer.mlp.activation = c.head_activation = r.activation({"activation"}, "gelu");
    s.layers.assign(layers, layer);
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    return r.finish(c);
}

constexpr const char* kDistilBertPrefixes[] = {"distilbert.", ""};

constexpr TensorRow kDistilBertTensors[] = {
    {Slot::token_embedding, "embeddings.word_embeddings"},
    {Slot::position_embedding, "embeddings.position_embeddings"},
    {Slot::embed_norm, "embeddings.LayerNorm"},
    {Slot::q, "transformer.layer.#.attention.q_lin"},
    {Slot::k, "transformer.layer.#.attention.k_lin"},
    {Slot::v, "transformer.layer.#.attention.v_lin"},
    {Slot::o, "transformer.layer.#.attention.out_lin"},
    {Slot::attn_norm, "transformer.layer.#.sa_layer_norm"},
    {Slot::up, "transformer.layer.#.ffn.lin1"},
    {Slot::down, "transformer.layer.#.ffn.lin2"},
    {Slot::mlp_norm, "transformer.layer.#.output_layer_norm"},
    {Slot::head_dense, "vocab_transform"},
    {Slot::head_norm, "vocab_layer_norm"},
    {Slot::unembedding, "vocab_projector"},
    {Slot::unembedding_bias, "vocab_projector.bias"},
};

}  // namespace

const Family kDistilBert{
    "distilbert", "DistilBERT", read_distilbert, {kDistilBertPrefixes, kDistilBertTensors}};

}  // namespace headlight
