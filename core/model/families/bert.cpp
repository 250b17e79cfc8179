// BERT (Devlin et al. 2019) and models with its layers: RoBERTa (Liu et al. 2019) counts positions from past
// the padding id, ELECTRA (Clark et al. 2020) may have narrow embeddings.
#include "model/families/bert.h"

#include <algorithm>

#include "base/quoted.h"

namespace headlight {

namespace {

/// Reads bidirectionally, as BERT and its relatives do, unless is_decoder makes the model causal.
void read_direction(ConfigReader& r, ModelConfig& c) {
    const bool decoder = r.boolean({"is_decoder"}, false);
    c.kind = decoder ? ModelKind::decoder : ModelKind::encoder;
    c.stacks[0].causal = decoder;
    r.refuse_cross_attention();
}

void read_learned_positions(ConfigReader& r, ModelConfig& c) {
    c.positions = PositionScheme::learned;
    const std::string kind = r.text({"position_embedding_type"}, "absolute");
    if (kind != "absolute")
        r.fail(r.file() + ": positions of the type " + in_quotes(kind) +
               " are not supported; use a model with absolute positions.");
}

}  // namespace

ModelConfig read_bert_common(ConfigReader& r, const BertUsual& usual) {
    ModelConfig c;
    LayerSpec layer;
    r.widths(c, layer.attention, {"hidden_size"}, usual.width, {"num_attention_heads"}, usual.heads);
    read_direction(r, c);
    StackConfig& s = c.stacks[0];
    const int layers = r.layers({"num_hidden_layers"}, usual.layers);
    layer.mlp.width = r.mlp_width({"intermediate_size"}, usual.mlp);
    s.vocab = c.vocab = r.vocabulary(usual.vocabulary);
    c.context = r.context({"max_position_embeddings"}, usual.context);
    if (usual.types) c.token_types = r.integer({"type_vocab_size"}, usual.types, 0, 1 << 10);
    layer.norms = NormPlace::after;
    c.norm_eps = r.number({"layer_norm_eps"}, usual.norm_eps);
    c.final_norm = false;
    c.embed_norm = c.mlm_head = true;
    layer.mlp.activation = c.head_activation = r.activation({"hidden_act"}, usual.activation);
    s.layers.assign(layers, layer);
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    if (usual.learned_positions) read_learned_positions(r, c);
    return c;
}

void count_from_padding(ConfigReader& r, ModelConfig& c, int padding) {
    c.position_pad = padding;
    c.position_offset = padding + 1;
    c.context -= c.position_offset;
    if (c.context < 1)
        r.fail(r.file() +
               ": max_position_embeddings leaves no position after the padding id; correct the file.");
}

ModelConfig read_roberta_common(ConfigReader& r, const BertUsual& usual) {
    ModelConfig c = read_bert_common(r, usual);
    count_from_padding(r, c, r.integer({"pad_token_id"}, 1, 0, 1 << 23));
    c.end_id = 2;
    c.head_activation = Activation::gelu;
    return c;
}

void set_pre_norm(ModelConfig& c) {
    for (LayerSpec& layer : c.stacks[0].layers) layer.norms = NormPlace::before;
    c.final_norm = true;
}

namespace {

Result<ModelConfig> read_bert(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    return r.finish(read_bert_common(r));
}

Result<ModelConfig> read_roberta(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    return r.finish(read_roberta_common(r, {.vocabulary = 50265}));
}
Result<ModelConfig> read_xlm_roberta(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    return r.finish(read_roberta_common(r));
}

Result<ModelConfig> read_electra(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bert_common(r, {.width = 256, .heads = 4, .mlp = 1024});
    c.d_embed = r.integer({"embedding_size"}, 128, 1, 1 << 17);
    c.head_activation = Activation::gelu;
    return r.finish(c);
}

/// Reads one half of two BERTs, under this key.
Result<ModelConfig> read_bert_half(const Json& root, const char* key, const std::string& file) {
    TRY(Json half, json_object(root, key, file));
    TRY(const std::string type, json_string(half, "model_type", "", file));
    if (type != "bert")
        return Error{file + ": an encoder–decoder whose " + key + " is of the type " +
                     in_quotes(shortened(type)) + " is not computed; use one of two BERTs."};
    half.erase("add_cross_attention");  // said of the decoder, which reads the encoder here
    TRY(ModelConfig c, read_bert(half, file));
    c.stacks[0].name = key;
    c.stacks[0].context = c.context;
    return c;
}

/// Reads an encoder and a decoder that are BERTs (Rothe et al. 2020).
Result<ModelConfig> read_encoder_decoder(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    TRY(const ModelConfig encoder, read_bert_half(root, "encoder", file));
    TRY(ModelConfig c, read_bert_half(root, "decoder", file));
    TRY(const Json half, json_object(root, "decoder", file));
    TRY(const bool reads, json_boolean(half, "add_cross_attention", false, file));
    if (encoder.d_model != c.d_model || encoder.norm_eps != c.norm_eps ||
        encoder.token_types != c.token_types || encoder.can.continue_text)
        return Error{
            file +
            ": an encoder that is causal, or differs from the decoder in hidden_size, layer_norm_eps "
            "or type_vocab_size, is not computed; use two equal BERTs."};
    for (LayerSpec& layer : c.stacks[0].layers)
        if (reads) layer.second = layer.attention;
    if (reads) c.stacks[0].source = 0;
    c.stacks.insert(c.stacks.begin(), encoder.stacks[0]);
    c.kind = ModelKind::encoder_decoder;
    c.context = std::max(c.context, encoder.context);
    c.shared_embedding = false;
    c.start_id = r.integer({or_null("decoder_start_token_id"), or_null("bos_token_id")}, 0, 0, 1 << 23);
    return r.finish(std::move(c));
}

constexpr const char *kBertPrefixes[] = {"bert.", ""}, *kRobertaPrefixes[] = {"roberta.", ""},
                     *kElectraPrefixes[] = {"electra.", ""};

constexpr TensorRow kElectraHead[] = {
    {Slot::head_dense, "generator_predictions.dense"},
    {Slot::head_norm, "generator_predictions.LayerNorm"},
    {Slot::unembedding, "generator_lm_head"},
    {Slot::unembedding_bias, "generator_lm_head.bias"},
};
constexpr const char* kTwoBertsPrefixes[] = {""};
constexpr TensorRow kEncoderDecoderTensors[] = {
    {Slot::token_embedding, "@.embeddings.word_embeddings", "", Stored::plain, 0},
    {Slot::position_embedding, "@.embeddings.position_embeddings", "", Stored::plain, 0},
    {Slot::type_embedding, "@.embeddings.token_type_embeddings", "", Stored::plain, 0},
    {Slot::embed_norm, "@.embeddings.LayerNorm", "", Stored::plain, 0},
    {Slot::q, "@.encoder.layer.#.attention.self.query", "", Stored::plain, 0},
    {Slot::k, "@.encoder.layer.#.attention.self.key", "", Stored::plain, 0},
    {Slot::v, "@.encoder.layer.#.attention.self.value", "", Stored::plain, 0},
    {Slot::o, "@.encoder.layer.#.attention.output.dense", "", Stored::plain, 0},
    {Slot::attn_norm, "@.encoder.layer.#.attention.output.LayerNorm", "", Stored::plain, 0},
    {Slot::up, "@.encoder.layer.#.intermediate.dense", "", Stored::plain, 0},
    {Slot::down, "@.encoder.layer.#.output.dense", "", Stored::plain, 0},
    {Slot::mlp_norm, "@.encoder.layer.#.output.LayerNorm", "", Stored::plain, 0},
    {Slot::token_embedding, "@.bert.embeddings.word_embeddings", "", Stored::plain, 1},
    {Slot::position_embedding, "@.bert.embeddings.position_embeddings", "", Stored::plain, 1},
    {Slot::type_embedding, "@.bert.embeddings.token_type_embeddings", "", Stored::plain, 1},
    {Slot::embed_norm, "@.bert.embeddings.LayerNorm", "", Stored::plain, 1},
    {Slot::q, "@.bert.encoder.layer.#.attention.self.query", "", Stored::plain, 1},
    {Slot::k, "@.bert.encoder.layer.#.attention.self.key", "", Stored::plain, 1},
    {Slot::v, "@.bert.encoder.layer.#.attention.self.value", "", Stored::plain, 1},
    {Slot::o, "@.bert.encoder.layer.#.attention.output.dense", "", Stored::plain, 1},
    {Slot::attn_norm, "@.bert.encoder.layer.#.attention.output.LayerNorm", "", Stored::plain, 1},
    {Slot::up, "@.bert.encoder.layer.#.intermediate.dense", "", Stored::plain, 1},
    {Slot::down, "@.bert.encoder.layer.#.output.dense", "", Stored::plain, 1},
    {Slot::mlp_norm, "@.bert.encoder.layer.#.output.LayerNorm", "", Stored::plain, 1},
    {Slot::cross_q, "@.bert.encoder.layer.#.crossattention.self.query", "", Stored::plain, 1},
    {Slot::cross_k, "@.bert.encoder.layer.#.crossattention.self.key", "", Stored::plain, 1},
    {Slot::cross_v, "@.bert.encoder.layer.#.crossattention.self.value", "", Stored::plain, 1},
    {Slot::cross_o, "@.bert.encoder.layer.#.crossattention.output.dense", "", Stored::plain, 1},
    {Slot::cross_norm, "@.bert.encoder.layer.#.crossattention.output.LayerNorm", "", Stored::plain, 1},
    {Slot::head_dense, "@.cls.predictions.transform.dense", "", Stored::plain, 1},
    {Slot::head_norm, "@.cls.predictions.transform.LayerNorm", "", Stored::plain, 1},
    {Slot::unembedding, "@.cls.predictions.decoder", "", Stored::plain, 1},
    {Slot::unembedding_bias, "@.cls.predictions.decoder.bias", "", Stored::plain, 1},
    {Slot::unembedding_bias, "@.cls.predictions.bias", "", Stored::plain, 1},
};
constexpr TensorNames kRobertaNames{kRobertaPrefixes, kRobertaHead, kBertLayers};

}  // namespace

const Family kBert{
    "bert", "BERT", read_bert, {kBertPrefixes, kBertHead, kBertLayers}, {"bert", kUsualGgufKeys}};
const Family kEncoderDecoder{
    "encoder-decoder", "two BERTs", read_encoder_decoder, {kTwoBertsPrefixes, kEncoderDecoderTensors}};
const Family kRoberta{"roberta", "RoBERTa", read_roberta, kRobertaNames};
const Family kXlmRoberta{"xlm-roberta", "XLM-RoBERTa", read_xlm_roberta, kRobertaNames};
const Family kCamembert{"camembert", "CamemBERT", read_xlm_roberta, kRobertaNames};
const Family kElectra{"electra", "ELECTRA", read_electra, {kElectraPrefixes, kElectraHead, kBertLayers}};

}  // namespace headlight
