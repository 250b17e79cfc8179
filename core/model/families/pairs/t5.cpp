// T5 (Raffel et al. 2020): pre-norm encoder and decoder with RMSNorm, no biases, unscaled scores, and a
// relative position bias that layer 0 of each stack owns and the other layers share. UMT5 (Chung et al. 2023)
// has one in every layer. LongT5's encoder (Guo et al. 2022) sees a window; Switch Transformers (Fedus et al.
// 2022) have experts in some layers.
#include <algorithm>
#include <cmath>

#include "base/quoted.h"
#include "model/families.h"

namespace headlight {

namespace {

/// Holds the defaults of a class; mT5's differ from T5's.
struct T5Usual {
    int64_t vocabulary = 32128, d_mlp = 2048, layers = 6, heads = 8;
    const char* mlp = "relu";
    bool scales_logits = true;
    bool of_each_layer = false;  // UMT5: a bias in every layer
    bool always_tied = false;    // whatever the file says
    int64_t width = 512;
};

/// Returns whether the folder holds the encoder alone, as text encoders of image and sentence models do.
bool is_encoder_alone(ConfigReader& r) {
    const std::vector<std::string> classes = r.architectures();
    for (const std::string& name : classes)
        if (name.ends_with("EncoderModel") || name.ends_with("ForTokenClassification")) return true;
    return classes.empty() && !r.boolean({"is_encoder_decoder"}, true);
}

/// Drops the decoder: no logits.
void keep_encoder(ModelConfig& c) {
    c.kind = ModelKind::encoder;
    c.stacks.pop_back();
}

/// Reads "gated-gelu" as transformers does; the keys that it derives from it and saves take precedence.
void read_mlp(ConfigReader& r, MlpSpec& to, const char* usual) {
    const std::string mlp = r.text({"feed_forward_proj"}, usual);
    const std::string name = mlp == "gated-gelu" ? "gelu_new" : mlp.substr(mlp.find_last_of('-') + 1);
    to.gated = r.boolean({"is_gated_act"}, mlp.starts_with("gated-"));
    to.activation = r.activation({"dense_act_fn"}, name);
}

void read_t5_buckets(ConfigReader& r, ModelConfig& c, const T5Usual& usual) {
    c.buckets.count = r.integer({"relative_attention_num_buckets"}, 32, 4, 1 << 16);
    c.buckets.of_each_layer = usual.of_each_layer;
    c.buckets.max_distance = r.integer({"relative_attention_max_distance"}, 128, c.buckets.count, 1 << 24);
}

ModelConfig read_t5_common(ConfigReader& r, const T5Usual& usual) {
    ModelConfig c;
    c.kind = ModelKind::encoder_decoder;
    c.d_model = c.d_embed = r.integer({"hidden_size", "d_model"}, usual.width, 1, 1 << 17);
    c.stacks.assign(2, {});
    StackConfig &encoder = c.stacks[0], &decoder = c.stacks[1];
    encoder.name = "encoder";
    decoder.name = "decoder";
    encoder.causal = false;
    decoder.source = 0;
    LayerSpec layer;
    AttentionSpec& attention = layer.attention;
    attention.heads = attention.kv_heads =
        r.integer({"num_attention_heads", "num_heads"}, usual.heads, 1, 1 << 12);
    attention.d_head = r.integer({"head_dim", "d_kv"}, 64, 1, 1 << 14);
    // "num_hidden_layers" is the encoder's alone.
    const int layers = r.layers({"num_hidden_layers", "num_layers"}, usual.layers),
              decoder_layers =
                  r.layers({or_null("num_decoder_layers")}, r.layers({"num_layers"}, usual.layers));
    layer.mlp.width = r.mlp_width({"d_ff"}, usual.d_mlp);
    encoder.vocab = decoder.vocab = c.vocab = r.vocabulary(usual.vocabulary);
    c.context = kNoLongestText;
    read_t5_buckets(r, c, usual);
    c.norm = NormKind::rms_norm;
    c.norm_eps = r.number({"layer_norm_epsilon"}, 1e-6);
    c.norm_bias = attention.bias = attention.output_bias = layer.mlp.bias = false;
    attention.scale = 1;
    read_mlp(r, layer.mlp, usual.mlp);
    encoder.layers.assign(layers, layer);
    layer.second = attention;
    decoder.layers.assign(decoder_layers, layer);
    const bool tied = r.boolean({or_null("tie_word_embeddings")}, true);
    c.tied_unembedding = tied || usual.always_tied;
    if (usual.scales_logits && r.boolean({"scale_decoder_outputs"}, tied))
        c.logit_scale = 1 / std::sqrt(float(c.d_model));
    c.start_id = r.integer({or_null("decoder_start_token_id"), or_null("pad_token_id")}, 0, 0, 1 << 23);
    c.end_id = 1;
    return c;
}

Result<ModelConfig> finish_whole_or_encoder(ConfigReader& r, ModelConfig c) {
    if (is_encoder_alone(r)) keep_encoder(c);
    return r.finish(std::move(c));
}

Result<ModelConfig> read_t5(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    return finish_whole_or_encoder(r, read_t5_common(r, {}));
}
Result<ModelConfig> read_mt5(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    return finish_whole_or_encoder(r, read_t5_common(r, {250112, 1024, 8, 6, "gated-gelu", false}));
}

Result<ModelConfig> read_umt5(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    return finish_whole_or_encoder(r,
                                   read_t5_common(r, {250112, 1024, 8, 6, "gated-gelu", true, true, true}));
}

Result<ModelConfig> read_longt5(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_t5_common(r, {.always_tied = true});
    if (const std::string kind = r.text({"encoder_attention_type"}, "local"); kind != "local")
        r.fail(file + ": attention of the type " + in_quotes(shortened(kind)) +
               ", whose keys include sums of blocks of tokens, is not computed; use a LongT5 with local "
               "attention, such as long-t5-local-base.");
    const int radius = r.integer({"local_radius"}, 127, 1, 1 << 20);
    for (LayerSpec& layer : c.stacks[0].layers) layer.attention.window = radius + 1;
    return finish_whole_or_encoder(r, std::move(c));
}

/// Gives every step-th layer of a stack experts, of which a token goes to one, by the keys of its half.
bool set_switches(ConfigReader& r, StackConfig& s, const ExpertsSpec& experts, JsonKey count, JsonKey step) {
    const int sparse = r.integer({count}, 3, 0, 1000), usual = sparse > 0 ? s.depth() / sparse : s.depth(),
              every = r.integer({step}, usual, 0, 1000);
    bool any = false;
    for (int l = 0; l < s.depth(); ++l) {
        if (every == 0 || (every > 1 && l % every != 1)) continue;
        MlpSpec& mlp = s.layers[l].mlp;
        mlp.experts = experts;
        mlp.width = 0;
        any = true;
    }
    return any;
}

Result<ModelConfig> read_switch(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_t5_common(r, {.layers = 12, .heads = 12, .width = 768});
    const ExpertsSpec experts{.count = r.integer({"num_experts"}, 8, 1, 1 << 12),
                              .used = 1,
                              .width = c.stacks[0].layers[0].mlp.width};
    const bool encoder =
                   set_switches(r, c.stacks[0], experts, "num_sparse_encoder_layers", "encoder_sparse_step"),
               decoder =
                   set_switches(r, c.stacks[1], experts, "num_sparse_decoder_layers", "decoder_sparse_step");
    // an expert turns tokens away beyond its capacity, which a text no longer than that never exceeds
    const int capacity = r.integer({"expert_capacity"}, 64, 1, 1 << 24);
    if (encoder) c.stacks[0].context = std::min(c.context, capacity);
    if (decoder) c.stacks[1].context = std::min(c.context, capacity);
    if (r.boolean({"router_bias"}, false) || r.text({"router_dtype"}, "float32") != "float32")
        r.fail(file +
               ": a router with a bias, or with another router_dtype than float32, is not computed; use a "
               "model without, such as switch-base-8.");
    return finish_whole_or_encoder(r, std::move(c));
}

constexpr const char* kT5Prefixes[] = {"", "transformer."};  // "transformer.": token classifiers

constexpr TensorRow kT5Tensors[] = {
    {Slot::token_embedding, "@.embed_tokens"},
    {Slot::token_embedding, "shared"},
    {Slot::token_embedding, "encoder.embed_tokens"},
    {Slot::token_embedding, "decoder.embed_tokens"},
    {Slot::attn_norm, "@.block.#.layer.0.layer_norm", "@.blk.#.attn_norm"},
    {Slot::q, "@.block.#.layer.0.SelfAttention.q", "@.blk.#.attn_q"},
    {Slot::k, "@.block.#.layer.0.SelfAttention.k", "@.blk.#.attn_k"},
    {Slot::v, "@.block.#.layer.0.SelfAttention.v", "@.blk.#.attn_v"},
    {Slot::o, "@.block.#.layer.0.SelfAttention.o", "@.blk.#.attn_o"},
    {Slot::relative_bias, "@.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
     "@.blk.0.attn_rel_b.weight"},
    {Slot::cross_norm, "@.block.#.layer.1.layer_norm", "@.blk.#.cross_attn_norm"},
    {Slot::cross_q, "@.block.#.layer.1.EncDecAttention.q", "@.blk.#.cross_attn_q"},
    {Slot::cross_k, "@.block.#.layer.1.EncDecAttention.k", "@.blk.#.cross_attn_k"},
    {Slot::cross_v, "@.block.#.layer.1.EncDecAttention.v", "@.blk.#.cross_attn_v"},
    {Slot::cross_o, "@.block.#.layer.1.EncDecAttention.o", "@.blk.#.cross_attn_o"},
    {Slot::mlp_norm, "@.block.#.layer.1.layer_norm", "@.blk.#.ffn_norm", Stored::plain, 0},
    {Slot::gate, "@.block.#.layer.1.DenseReluDense.wi_0", "@.blk.#.ffn_gate", Stored::plain, 0},
    {Slot::up, "@.block.#.layer.1.DenseReluDense.wi_1", "@.blk.#.ffn_up", Stored::plain, 0},
    {Slot::up, "@.block.#.layer.1.DenseReluDense.wi", "", Stored::plain, 0},
    {Slot::down, "@.block.#.layer.1.DenseReluDense.wo", "@.blk.#.ffn_down", Stored::plain, 0},
    {Slot::mlp_norm, "@.block.#.layer.2.layer_norm", "@.blk.#.ffn_norm", Stored::plain, 1},
    {Slot::gate, "@.block.#.layer.2.DenseReluDense.wi_0", "@.blk.#.ffn_gate", Stored::plain, 1},
    {Slot::up, "@.block.#.layer.2.DenseReluDense.wi_1", "@.blk.#.ffn_up", Stored::plain, 1},
    {Slot::up, "@.block.#.layer.2.DenseReluDense.wi", "", Stored::plain, 1},
    {Slot::down, "@.block.#.layer.2.DenseReluDense.wo", "@.blk.#.ffn_down", Stored::plain, 1},
    {Slot::final_norm, "@.final_layer_norm", "@.output_norm"},
    {Slot::unembedding, "lm_head"},
};

constexpr TensorRow kLongT5Tensors[] = {
    {Slot::q, "@.block.#.layer.0.LocalSelfAttention.q", "", Stored::plain, 0},
    {Slot::k, "@.block.#.layer.0.LocalSelfAttention.k", "", Stored::plain, 0},
    {Slot::v, "@.block.#.layer.0.LocalSelfAttention.v", "", Stored::plain, 0},
    {Slot::o, "@.block.#.layer.0.LocalSelfAttention.o", "", Stored::plain, 0},
    {Slot::relative_bias, "@.block.0.layer.0.LocalSelfAttention.relative_attention_bias.weight", "",
     Stored::plain, 0},
};
constexpr TensorRow kSwitchTensors[] = {
    {Slot::up, "@.block.#.layer.1.mlp.wi", "", Stored::plain, 0},
    {Slot::down, "@.block.#.layer.1.mlp.wo", "", Stored::plain, 0},
    {Slot::router, "@.block.#.layer.1.mlp.router.classifier", "", Stored::plain, 0},
    {Slot::expert_up, "@.block.#.layer.1.mlp.experts.expert_%.wi", "", Stored::plain, 0},
    {Slot::expert_down, "@.block.#.layer.1.mlp.experts.expert_%.wo", "", Stored::plain, 0},
    {Slot::up, "@.block.#.layer.2.mlp.wi", "", Stored::plain, 1},
    {Slot::down, "@.block.#.layer.2.mlp.wo", "", Stored::plain, 1},
    {Slot::router, "@.block.#.layer.2.mlp.router.classifier", "", Stored::plain, 1},
    {Slot::expert_up, "@.block.#.layer.2.mlp.experts.expert_%.wi", "", Stored::plain, 1},
    {Slot::expert_down, "@.block.#.layer.2.mlp.experts.expert_%.wo", "", Stored::plain, 1},
};
constexpr TensorRow kUmt5Tensors[] = {
    {Slot::relative_bias, "@.block.#.layer.0.SelfAttention.relative_attention_bias.weight",
     "@.blk.#.attn_rel_b.weight"},
};

constexpr GgufNames kT5Keys[] = {{"d_model", "embedding_length"},
                                 {"num_layers", "block_count"},
                                 {"d_ff", "feed_forward_length"},
                                 {"num_decoder_layers", "decoder_block_count"},
                                 {"num_heads", "attention.head_count"},
                                 {"d_kv", "attention.key_length"},
                                 {"relative_attention_num_buckets", "attention.relative_buckets_count"},
                                 {"decoder_start_token_id", "decoder_start_token_id"}};

/// Names the class, and says whether MLPs are gated, by the tensors, as llama.cpp does.
Status complete_t5(const Gguf& file, const std::string&, Json& config) {
    const auto has = [&](const char* name) { return file.tensors.count(name) > 0; };
    if (has("enc.blk.1.attn_rel_b.weight") || has("dec.blk.1.attn_rel_b.weight"))
        config["model_type"] = "umt5";
    config["feed_forward_proj"] = has("enc.blk.0.ffn_gate.weight") ? "gated-gelu" : "relu";
    if (file.value("general.architecture") == "t5encoder") config["architectures"] = {"T5EncoderModel"};
    return success();
}

}  // namespace

const Family kT5{
    "t5", "T5", read_t5, {kT5Prefixes, kT5Tensors}, {"t5", kT5Keys, false, complete_t5, "{}", "t5encoder"}};
const Family kMt5{"mt5", "mT5", read_mt5, {kT5Prefixes, kT5Tensors}};
const Family kUmt5{"umt5", "UMT5", read_umt5, {kT5Prefixes, kUmt5Tensors, kT5Tensors}};
const Family kLongT5{"longt5", "LongT5", read_longt5, {kT5Prefixes, kLongT5Tensors, kT5Tensors}};
const Family kSwitch{
    "switch_transformers", "Switch Transformers", read_switch, {kT5Prefixes, kSwitchTensors, kT5Tensors}};

}  // namespace headlight
