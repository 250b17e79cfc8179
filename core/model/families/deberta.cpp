// DeBERTa (He et al. 2021): BERT whose scores are disentangled into content and distance. DeBERTa v2 and v3
// put far distances into logarithmic buckets, and may project them by the matrices of queries and keys.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "base/quoted.h"
#include "model/families/bert.h"

namespace headlight {

namespace {

/// Reads a list of words, or one text with bars between them, in small letters.
std::vector<std::string> words_of(ConfigReader& r, const char* key) {
    std::vector<std::string> out;
    const Json* stated = json_find(r.root(), or_null(key));
    const Json list = !stated ? Json::array() : stated->is_array() ? *stated : Json::array({*stated});
    for (const Json& entry : list) {
        if (!entry.is_string()) {
            r.fail(wrong_type(r.file(), key, "a text or a list of texts", entry).message);
            return {};
        }
        std::string word;
        for (const char c : entry.get<std::string>() + '|') {
            if (c == '|')
                out.push_back(std::exchange(word, {}));
            else if (c != ' ')
                word += char(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    std::erase(out, "");
    return out;
}

/// Returns whether a term is listed, and refuses others.
bool has_term(ConfigReader& r, const std::vector<std::string>& terms, const char* name) {
    for (const std::string& term : terms)
        if (term != "c2p" && term != "p2c")
            r.fail(r.file() + ": the term " + in_quotes(shortened(term)) +
                   " of pos_att_type is not computed; Headlight knows c2p and p2c.");
    return std::find(terms.begin(), terms.end(), name) != terms.end();
}

/// Reads a model of either version with the scale of its scores, but without their distances.
ModelConfig read_common(ConfigReader& r, const BertUsual& usual, std::vector<std::string>& terms) {
    ModelConfig c = read_bert_common(r, usual);
    c.kind = ModelKind::encoder;  // its class takes no is_decoder
    c.stacks[0].causal = false;
    c.end_id = 2;
    c.token_types = r.integer({"type_vocab_size"}, 0, 0, 1 << 10);
    if (!r.boolean({"position_biased_input"}, true)) c.positions = PositionScheme::none;
    c.d_embed = r.integer({"embedding_size"}, c.d_model, 1, 1 << 17);
    c.norm_projected = true;
    const bool legacy = r.boolean({"legacy"}, true);
    c.tied_unembedding |= !legacy;  // the newer head multiplies by the embeddings, whatever the file says
    if (!legacy && c.d_embed != c.d_model)
        r.fail(r.file() +
               ": the head of a model that is not \"legacy\" reads embeddings of hidden_size; "
               "correct embedding_size.");
    terms = words_of(r, "pos_att_type");
    const float scores = 1.0f + float(has_term(r, terms, "c2p")) + float(has_term(r, terms, "p2c"));
    if (terms.size() + 1 != size_t(scores))
        r.fail(r.file() + ": pos_att_type names a term twice; correct the file.");
    for (LayerSpec& layer : c.stacks[0].layers)
        layer.attention.scale = 1 / std::sqrt(float(layer.attention.d_head) * scores);
    return c;
}

/// Reads how far the table of distances reaches on its own: max_relative_positions, or the longest text.
int farthest(ConfigReader& r, const ModelConfig& c) {
    const int stated = r.integer({"max_relative_positions"}, -1, -1, 1 << 20);
    return stated < 1 ? c.context : stated;
}

void set_disentangled(ModelConfig& c, const DisentangledSpec& spec) {
    for (LayerSpec& layer : c.stacks[0].layers) layer.attention.disentangled = spec;
    if (c.positions == PositionScheme::none) c.positions = PositionScheme::disentangled;
}

Result<ModelConfig> read_deberta(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    std::vector<std::string> terms;
    ModelConfig c = read_common(r, {.vocabulary = 50265, .types = 0, .norm_eps = 1e-7}, terms);
    for (LayerSpec& layer : c.stacks[0].layers) {
        layer.attention.bias = false;
        layer.attention.qv_bias = true;
    }
    if (r.boolean({"talking_head"}, false))
        r.fail(file + ": heads that mix their scores (talking_head) are not computed; use a model without.");
    if (r.boolean({"relative_attention"}, false))
        set_disentangled(c, {.span = farthest(r, c),
                             .to_position = has_term(r, terms, "c2p"),
                             .from_position = has_term(r, terms, "p2c"),
                             .key_bias = false});
    return r.finish(c);
}

/// Reads the number of buckets of distances, and where they end.
void read_buckets(ConfigReader& r, const ModelConfig& c, DisentangledSpec& spec) {
    spec.max_distance = spec.span = farthest(r, c);
    spec.buckets = std::max(0, r.integer({"position_buckets"}, -1, -1, 1 << 20));
    if (!spec.buckets) return;
    spec.span = spec.buckets;
    if (spec.buckets < 2 || spec.max_distance - 1 <= spec.buckets / 2)
        r.fail(r.file() + ": " + std::to_string(spec.buckets) +
               " position_buckets cannot hold distances up to " + std::to_string(spec.max_distance) +
               "; correct position_buckets or max_relative_positions.");
}

/// Reads the convolution beside the first layer, of the larger models.
void read_convolution(ConfigReader& r, ModelConfig& c) {
    ConvolutionSpec spec;
    spec.kernel = r.integer({"conv_kernel_size"}, 0, 0, 1 << 8);
    if (!spec.kernel) return;
    spec.groups = r.integer({"conv_groups"}, 1, 1, 1 << 17);
    spec.activation = r.activation({"conv_act"}, "tanh");
    if (spec.kernel % 2 == 0 || c.d_model % spec.groups)
        r.fail(r.file() +
               ": conv_kernel_size must be odd, and conv_groups divide hidden_size; correct the file.");
    c.stacks[0].layers[0].convolution = spec;
}

Result<ModelConfig> read_deberta_v2(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    std::vector<std::string> terms;
    ModelConfig c = read_common(r,
                                {.width = 1536,
                                 .heads = 24,
                                 .layers = 24,
                                 .mlp = 6144,
                                 .vocabulary = 128100,
                                 .types = 0,
                                 .norm_eps = 1e-7},
                                terms);
    const int d_head = c.stacks[0].layers[0].attention.d_head;
    if (r.integer({"attention_head_size"}, d_head, 1, 1 << 14) != d_head)
        r.fail(file + ": attention_head_size must be the width divided by the heads; correct the file.");
    read_convolution(r, c);
    DisentangledSpec spec{.to_position = has_term(r, terms, "c2p"),
                          .from_position = has_term(r, terms, "p2c"),
                          .shared = r.boolean({"share_att_key"}, false)};
    for (const std::string& norm : words_of(r, "norm_rel_ebd")) {
        spec.norm |= norm == "layer_norm";
        if (norm != "layer_norm" && norm != "none")
            r.fail(file + ": the norm " + in_quotes(shortened(norm)) +
                   " of norm_rel_ebd is not computed; Headlight knows layer_norm and none.");
    }
    read_buckets(r, c, spec);
    if (r.boolean({"relative_attention"}, false)) set_disentangled(c, spec);
    return r.finish(c);
}

constexpr const char* kDebertaPrefixes[] = {"deberta.", ""};

constexpr TensorRow kDebertaHead[] = {
    {Slot::head_dense, "cls.predictions.transform.dense"},
    {Slot::head_norm, "cls.predictions.transform.LayerNorm"},
    {Slot::unembedding, "cls.predictions.decoder"},
    {Slot::unembedding_bias, "cls.predictions.decoder.bias"},
    {Slot::unembedding_bias, "cls.predictions.bias"},
    {Slot::head_dense, "lm_predictions.lm_head.dense"},
    {Slot::head_norm, "lm_predictions.lm_head.LayerNorm"},
    {Slot::unembedding_bias, "lm_predictions.lm_head.bias"},
};
constexpr TensorRow kDebertaTensors[] = {
    {Slot::embed_project, "embeddings.embed_proj"},
    {Slot::relative_embedding, "encoder.rel_embeddings"},
    {Slot::qkv, "encoder.layer.#.attention.self.in_proj", "", Stored::by_head},
    {Slot::q_bias, "encoder.layer.#.attention.self.q_bias"},
    {Slot::v_bias, "encoder.layer.#.attention.self.v_bias"},
    {Slot::relative_key, "encoder.layer.#.attention.self.pos_proj"},
    {Slot::relative_query, "encoder.layer.#.attention.self.pos_q_proj"},
};
constexpr TensorRow kDebertaV2Tensors[] = {
    {Slot::embed_project, "embeddings.embed_proj"},
    {Slot::relative_embedding, "encoder.rel_embeddings"},
    {Slot::relative_norm, "encoder.LayerNorm"},
    {Slot::convolution, "encoder.conv.conv", "", Stored::convolution},
    {Slot::convolution_norm, "encoder.conv.LayerNorm"},
    {Slot::q, "encoder.layer.#.attention.self.query_proj"},
    {Slot::k, "encoder.layer.#.attention.self.key_proj"},
    {Slot::v, "encoder.layer.#.attention.self.value_proj"},
    {Slot::relative_key, "encoder.layer.#.attention.self.pos_key_proj"},
    {Slot::relative_query, "encoder.layer.#.attention.self.pos_query_proj"},
};

}  // namespace

const Family kDeberta{
    "deberta", "DeBERTa", read_deberta, {kDebertaPrefixes, kDebertaTensors, kDebertaHead, kBertLayers}};
const Family kDebertaV2{"deberta-v2",
                        "DeBERTa v2",
                        read_deberta_v2,
                        {kDebertaPrefixes, kDebertaV2Tensors, kDebertaHead, kBertLayers}};

}  // namespace headlight
