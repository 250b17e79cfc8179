// Encoders that rotate queries and keys: post-norm like BERT, Nomic BERT (Nussbaum et al. 2024) and GTE
// (Zhang et al. 2024) with gated MLPs, Jina Embeddings 3 (Sturua et al. 2024) with a plain one; EuroBERT
// (Boizard et al. 2025) is Llama without its causal mask; ESM-2 (Lin et al. 2023) and ESM C, pre-norm, read
// proteins.
#include <cmath>

#include "base/quoted.h"
#include "model/families/bert.h"
#include "model/families/llama_like.h"

namespace headlight {

namespace {

/// Reads a post-norm encoder whose heads may have a width of their own.
ModelConfig read_rotary_bert(ConfigReader& r, BertUsual usual, double theta) {
    usual.learned_positions = false;
    ModelConfig c = read_bert_common(r, usual);
    c.kind = ModelKind::encoder;
    c.stacks[0].causal = false;
    for_layers(c, [&](LayerSpec& layer, int) {
        r.heads(layer.attention, c.d_model, {"num_attention_heads"}, usual.heads,
                HeadDim{or_null("head_dim")});
    });
    set_rope(r, c, {.usual_theta = theta});
    return c;
}

Result<ModelConfig> read_nomic_bert(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_rotary_bert(r, {.vocabulary = 30528, .context = 2048, .activation = "silu"}, 1000);
    for_layers(c, [](LayerSpec& layer, int) {
        layer.attention.bias = layer.attention.output_bias = layer.mlp.bias = false;
        layer.mlp.gated = true;
    });
    return r.finish(c);
}

Result<ModelConfig> read_jina(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_rotary_bert(r,
                                     {.width = 1024,
                                      .heads = 16,
                                      .layers = 24,
                                      .mlp = 4096,
                                      .vocabulary = 250002,
                                      .context = 8194,
                                      .types = 1,
                                      .norm_eps = 1e-5},
                                     20000);
    c.head_activation = Activation::gelu;
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelConfig> read_gte(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_rotary_bert(r, {.vocabulary = 250048, .context = 8192, .types = 1}, 160000);
    for_layers(c, [](LayerSpec& layer, int) {
        layer.mlp.gated = true;
        layer.mlp.in_bias = false;
    });
    c.head_activation = Activation::gelu;
    return r.finish(c);
}

Result<ModelConfig> read_eurobert(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    LlamaKeys keys;
    keys.usual_width = 768;
    keys.usual_heads = keys.usual_layers = 12;
    keys.usual_mlp = 3072;
    keys.usual_vocab = 128256;
    keys.usual_context = 8192;
    keys.usual_norm_eps = 1e-5;
    ModelConfig c = read_llama_like(r, keys);
    c.kind = ModelKind::encoder;
    c.stacks[0].causal = false;
    c.plain_head = true;
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    c.logits_bias = r.boolean({"mlp_bias"}, false);
    for_layers(c, [&](LayerSpec& layer, int) { layer.mlp.bias = c.logits_bias; });
    set_rope(r, c);
    return r.finish(c);
}

/// Reads ESM's positions: learned and counted as RoBERTa's, or rotary.
void read_esm_positions(ConfigReader& r, ModelConfig& c) {
    const std::string kind = r.text({or_null("position_embedding_type")}, "absolute");
    if (kind == "rotary") return set_rope(r, c);
    if (kind != "absolute")
        r.fail(r.file() + ": positions of the type " + in_quotes(kind) +
               " are not computed; use a model with absolute or rotary positions.");
    c.positions = PositionScheme::learned;
    count_from_padding(r, c, r.integer({or_null("pad_token_id")}, 1, 0, 1 << 23));
}

Result<ModelConfig> read_esm(const Json& root, const std::string& file) {
    constexpr float kShareKept = 1 - 0.15f * 0.8f;  // of the embeddings, in training
    ConfigReader r(root, file);
    ModelConfig c =
        read_bert_common(r, {.vocabulary = 33, .context = 1026, .types = 0, .learned_positions = false});
    set_pre_norm(c);
    for_layers(c, [](LayerSpec& layer, int) { layer.mlp.activation = Activation::gelu; });
    c.head_activation = Activation::gelu;
    c.end_id = 2;
    c.embed_norm = r.boolean({or_null("emb_layer_norm_before")}, false);
    if (r.boolean({or_null("token_dropout")}, false)) {
        c.embed_scale = kShareKept;
        c.dropped_id = r.integer({or_null("mask_token_id")}, 32, 0, 1 << 23);
    }
    if (r.boolean({or_null("is_folding_model")}, false))
        r.fail(file + ": the folding of proteins is not computed; use ESM-2 itself.");
    read_esm_positions(r, c);
    return r.finish(c);
}

/// Reads ESM C: Llama's layers with LayerNorm, of q and k too, whose outputs are divided by √(layers / 36).
Result<ModelConfig> read_esmc(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    LlamaKeys keys;
    keys.usual_width = 2560;
    keys.usual_heads = 40;
    keys.usual_layers = 80;
    keys.usual_mlp = 6912;
    keys.usual_vocab = 64;
    ModelConfig c = read_llama_like(r, keys);
    c.kind = ModelKind::encoder;
    c.stacks[0].causal = false;
    c.norm = NormKind::layer_norm;
    c.norm_eps = 1e-5f;
    c.norm_bias = true;
    c.final_norm_bias = false;
    read_biases(r, c);
    const AttentionSpec& a = c.stacks[0].layers[0].attention;
    if (a.heads * int64_t{a.d_head} != c.d_model || a.kv_heads != a.heads)
        r.fail(file +
               ": ESM C's heads share no keys and are as wide as hidden_size together; correct the file.");
    for_layers(c, [&](LayerSpec& layer, int) {
        layer.attention.qk_norm = QkNorm::whole;
        layer.attention.qk_norm_bias = false;
        layer.residual_scale = 1 / std::sqrt(float(c.stacks[0].depth()) / 36);
    });
    c.mlm_head = true;
    c.head_activation = Activation::gelu;
    set_rope(r, c);
    c.end_id = 2;
    return r.finish(c);
}

constexpr const char *kNomicPrefixes[] = {"nomic_bert.", ""}, *kJinaPrefixes[] = {"roberta.", ""},
                     *kGtePrefixes[] = {"gte.", "new.", ""}, *kEsmPrefixes[] = {"esm.", ""},
                     *kEsmcPrefixes[] = {"esmc.", ""};

constexpr TensorRow kNomicTensors[] = {
    {Slot::token_embedding, "embeddings.word_embeddings"},
    {Slot::type_embedding, "embeddings.token_type_embeddings"},
    {Slot::embed_norm, "emb_ln"},
    {Slot::qkv, "encoder.layers.#.attn.Wqkv"},
    {Slot::o, "encoder.layers.#.attn.out_proj"},
    {Slot::attn_norm, "encoder.layers.#.norm1", "blk.#.attn_output_norm"},
    {Slot::up, "encoder.layers.#.mlp.fc11"},
    {Slot::gate, "encoder.layers.#.mlp.fc12"},
    {Slot::down, "encoder.layers.#.mlp.fc2"},
    {Slot::mlp_norm, "encoder.layers.#.norm2", "blk.#.layer_output_norm"},
    {Slot::head_dense, "cls.predictions.transform.dense"},
    {Slot::head_norm, "cls.predictions.transform.layer_norm"},
    {Slot::unembedding, "cls.predictions.decoder"},
    {Slot::unembedding_bias, "cls.predictions.decoder.bias"},
    {Slot::unembedding_bias, "cls.predictions.bias"},
};
constexpr TensorRow kJinaTensors[] = {
    {Slot::token_embedding, "embeddings.word_embeddings"},
    {Slot::type_embedding, "embeddings.token_type_embeddings"},
    {Slot::embed_norm, "emb_ln"},
    {Slot::qkv, "encoder.layers.#.mixer.Wqkv"},
    {Slot::o, "encoder.layers.#.mixer.out_proj"},
    {Slot::attn_norm, "encoder.layers.#.norm1"},
    {Slot::up, "encoder.layers.#.mlp.fc1"},
    {Slot::down, "encoder.layers.#.mlp.fc2"},
    {Slot::mlp_norm, "encoder.layers.#.norm2"},
};
constexpr TensorRow kGteTensors[] = {
    {Slot::token_embedding, "embeddings.word_embeddings"},
    {Slot::type_embedding, "embeddings.token_type_embeddings"},
    {Slot::embed_norm, "embeddings.LayerNorm"},
    {Slot::qkv, "encoder.layer.#.attention.qkv_proj"},
    {Slot::o, "encoder.layer.#.attention.o_proj"},
    {Slot::attn_norm, "encoder.layer.#.attn_ln"},
    {Slot::gate_up, "encoder.layer.#.mlp.up_gate_proj", "", Stored::up_first},
    {Slot::down, "encoder.layer.#.mlp.down_proj"},
    {Slot::mlp_norm, "encoder.layer.#.mlp_ln"},
    {Slot::head_dense, "lm_head.dense"},
    {Slot::head_norm, "lm_head.norm"},
    {Slot::unembedding, "lm_head.decoder"},
    {Slot::unembedding_bias, "lm_head.decoder.bias"},
};
constexpr TensorRow kEsmTensors[] = {
    {Slot::embed_norm, "embeddings.layer_norm"},   {Slot::attn_norm, "encoder.layer.#.attention.LayerNorm"},
    {Slot::mlp_norm, "encoder.layer.#.LayerNorm"}, {Slot::final_norm, "encoder.emb_layer_norm_after"},
    {Slot::contact, "contact_head.regression"},
};
constexpr TensorRow kEsmcHead[] = {
    {Slot::head_dense, "lm_head.dense"},
    {Slot::head_norm, "lm_head.layer_norm"},
    {Slot::unembedding, "lm_head.decoder"},
    {Slot::unembedding_bias, "lm_head.decoder.bias"},
};

/// Says that the embeddings are no unembedding: the file holds an encoder alone.
Status leave_head_out(const Gguf&, const std::string&, Json& config) {
    config["tie_word_embeddings"] = false;
    return success();
}

}  // namespace

const Family kNomicBert{"nomic_bert",
                        "Nomic BERT",
                        read_nomic_bert,
                        {kNomicPrefixes, kNomicTensors},
                        {"nomic-bert", kUsualGgufKeys}};
const Family kJinaEmbeddings{
    "jina_embeddings_v3", "Jina Embeddings 3", read_jina, {kJinaPrefixes, kJinaTensors, kRobertaHead}};
const Family kGte{"gte", "GTE", read_gte, {kGtePrefixes, kGteTensors}};
const Family kEuroBert{
    "eurobert", "EuroBERT", read_eurobert, kLlamaNames, {"eurobert", kUsualGgufKeys, false, leave_head_out}};
const Family kEsmc{"esmc", "ESM C", read_esmc, {kEsmcPrefixes, kEsmcHead, kLlamaTensors}};
const Family kEsm{"esm", "ESM", read_esm, {kEsmPrefixes, kEsmTensors, kRobertaHead, kBertLayers}};

}  // namespace headlight
