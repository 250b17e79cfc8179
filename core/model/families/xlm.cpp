// XLM (Conneau and Lample 2019) and FlauBERT (Le et al. 2020): BERT under other names, without token types
// and without a layer before the unembedding. A text that names no languages adds no vectors of languages.
#include "model/families/bert.h"

namespace headlight {

namespace {

Result<ModelConfig> read_xlm_like(ConfigReader& r) {
    ModelConfig c;
    LayerSpec layer;
    r.widths(c, layer.attention, {"emb_dim", "hidden_size"}, 2048, {"n_heads", "num_attention_heads"}, 16);
    c.kind = ModelKind::encoder;
    StackConfig& s = c.stacks[0];
    s.causal = false;
    layer.norms = NormPlace::after;
    layer.mlp.width = 4 * c.d_model;
    layer.mlp.activation = r.boolean({"gelu_activation"}, true) ? Activation::gelu : Activation::relu;
    s.layers.assign(r.layers({"n_layers", "num_hidden_layers"}, 12), layer);
    s.vocab = c.vocab = r.vocabulary(30145, {"vocab_size", "n_words"});
    c.context = r.context({"max_position_embeddings"}, 512);
    c.positions = PositionScheme::learned;
    c.norm_eps = r.number({"layer_norm_eps"}, 1e-12);
    c.embed_norm = c.plain_head = c.logits_bias = true;
    c.final_norm = false;
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    c.end_id = 1;
    const std::pair<const char*, bool> fixed[] = {{"causal", false}, {"asm", false}, {"is_encoder", true}};
    for (const auto& [key, usual] : fixed)
        if (r.boolean({key}, usual) != usual)
            r.fail(r.file() + ": a model whose \"" + key + "\" is " + (usual ? "false" : "true") +
                   " is not computed; use one where it is " + (usual ? "true." : "false."));
    return r.finish(c);
}

Result<ModelConfig> read_xlm(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    return read_xlm_like(r);
}

Result<ModelConfig> read_flaubert(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    if (r.boolean({"pre_norm"}, false))
        r.fail(file +
               ": layers that norm their input (pre_norm) are not computed; use a FlauBERT without, such "
               "as flaubert_base_cased.");
    return read_xlm_like(r);
}

constexpr const char* kXlmPrefixes[] = {"transformer.", ""};

constexpr TensorRow kXlmTensors[] = {
    {Slot::token_embedding, "embeddings"},
    {Slot::position_embedding, "position_embeddings"},
    {Slot::embed_norm, "layer_norm_emb"},
    {Slot::q, "attentions.#.q_lin"},
    {Slot::k, "attentions.#.k_lin"},
    {Slot::v, "attentions.#.v_lin"},
    {Slot::o, "attentions.#.out_lin"},
    {Slot::attn_norm, "layer_norm1.#"},
    {Slot::up, "ffns.#.lin1"},
    {Slot::down, "ffns.#.lin2"},
    {Slot::mlp_norm, "layer_norm2.#"},
    {Slot::unembedding, "pred_layer.proj"},
    {Slot::unembedding_bias, "pred_layer.proj.bias"},
};

}  // namespace

const Family kXlm{"xlm", "XLM", read_xlm, {kXlmPrefixes, kXlmTensors}};
const Family kFlaubert{"flaubert", "FlauBERT", read_flaubert, {kXlmPrefixes, kXlmTensors}};

}  // namespace headlight
