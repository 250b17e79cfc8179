// T5 (Raffel et al. 2020): pre-norm encoder and decoder with RMSNorm, no biases, unscaled scores, and a
// relative position bias that layer 0 of each stack owns and the other layers share.
#include <cmath>

#include "model/families.h"

namespace headlight {

namespace {

/// Holds the defaults of a class; mT5's differ from T5's.
struct Usual {
    int64_t vocabulary = 32128, d_mlp = 2048, layers = 6, heads = 8;
    const char* mlp = "relu";
    bool scales_logits = true;
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
void read_mlp(ConfigReader& r, ModelConfig& c, const char* usual) {
    const std::string mlp = r.text({"feed_forward_proj"}, usual);
    const std::string name = mlp == "gated-gelu" ? "gelu_new" : mlp.substr(mlp.find_last_of('-') + 1);
    c.gated = r.boolean({"is_gated_act"}, mlp.starts_with("gated-"));
    c.activation = r.activation({"dense_act_fn"}, name);
}

Result<ModelConfig> read_t5_common(const Json& root, const std::string& file, const Usual& usual) {
    ConfigReader r(root, file);
    ModelConfig c;
    c.kind = ModelKind::encoder_decoder;
    c.d_model = c.d_embed = r.integer({"hidden_size", "d_model"}, 512, 1, 1 << 17);
    c.stacks.assign(2, {});
    StackConfig &encoder = c.stacks[0], &decoder = c.stacks[1];
    encoder.name = "encoder";
    decoder.name = "decoder";
    encoder.causal = false;
    decoder.cross = true;
    for (StackConfig& s : c.stacks) {
        s.heads = s.kv_heads = r.integer({"num_attention_heads", "num_heads"}, usual.heads, 1, 1 << 12);
        s.d_head = r.integer({"head_dim", "d_kv"}, 64, 1, 1 << 14);
    }
    encoder.layers = r.layers({"num_hidden_layers", "num_layers"}, usual.layers);
    decoder.layers = r.layers({or_null("num_decoder_layers")}, encoder.layers);
    encoder.d_mlp = decoder.d_mlp = r.mlp_width({"d_ff"}, usual.d_mlp);
    encoder.vocab = decoder.vocab = c.vocab = r.vocabulary(usual.vocabulary);
    c.context = kNoLongestText;
    c.buckets.count = r.integer({"relative_attention_num_buckets"}, 32, 4, 1 << 16);
    c.buckets.max_distance = r.integer({"relative_attention_max_distance"}, 128, c.buckets.count, 1 << 24);
    c.norm = NormKind::rms_norm;
    c.norm_eps = r.number({"layer_norm_epsilon"}, 1e-6);
    c.norm_bias = c.attention_bias = c.output_bias = c.mlp_bias = false;
    c.scale = 1;
    read_mlp(r, c, usual.mlp);
    c.tied_unembedding = r.boolean({or_null("tie_word_embeddings")}, true);
    if (usual.scales_logits && r.boolean({"scale_decoder_outputs"}, c.tied_unembedding))
        c.logit_scale = 1 / std::sqrt(float(c.d_model));
    c.start_id = r.integer({or_null("decoder_start_token_id"), or_null("pad_token_id")}, 0, 0, 1 << 23);
    c.end_id = 1;
    if (is_encoder_alone(r)) keep_encoder(c);
    return r.finish(c);
}

Result<ModelConfig> read_t5(const Json& root, const std::string& file) {
    return read_t5_common(root, file, {});
}
Result<ModelConfig> read_mt5(const Json& root, const std::string& file) {
    return read_t5_common(root, file, {250112, 1024, 8, 6, "gated-gelu", false});
}

/// Adds the embedding table's names, and the unembedding's if it is tied.
std::vector<std::string> names_of_t5_table(const ModelConfig& c, std::vector<std::string> names) {
    for (const char* other : {"shared", "encoder.embed_tokens", "decoder.embed_tokens"})
        names.emplace_back(other);
    if (c.tied_unembedding) names.emplace_back("lm_head");
    return names;
}

StackWeights bind_t5_stack(Binder& b, const StackConfig& stack) {
    const ModelConfig& c = b.config();
    StackWeights s;
    s.token_embedding =
        b.tied_table(names_of_t5_table(c, {stack.name + ".embed_tokens"}), c.vocab, c.d_model);
    s.layers = b.layers(stack, stack.name + ".block.", [&](LayerWeights& w, const std::string& layer) {
        const std::string at = layer + "layer.", mlp = at + (stack.cross ? "2." : "1.");
        w.self.norm = b.norm(at + "0.layer_norm");
        b.attention(w.self, stack, at + "0.SelfAttention.", "q", "k", "v", "o");
        if (stack.cross) {
            w.cross.norm = b.norm(at + "1.layer_norm");
            b.attention(w.cross, stack, at + "1.EncDecAttention.", "q", "k", "v", "o");
        }
        w.mlp_norm = b.norm(mlp + "layer_norm");
        const std::string dense = mlp + "DenseReluDense.";
        if (c.gated)
            b.mlp(w, stack, dense + "wi_1", dense + "wo", dense + "wi_0");
        else
            b.mlp(w, stack, dense + "wi", dense + "wo");
    });
    s.relative_bias = b.vector(stack.name + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight",
                               {c.buckets.count, stack.heads});
    s.final_norm = b.norm(stack.name + ".final_layer_norm");
    return s;
}

Result<ModelWeights> bind_t5(WeightStore& store, const ModelConfig& c) {
    store.set_prefixes({"", "transformer."});  // "transformer.": token classifiers
    Binder b(store, c);
    ModelWeights w;
    for (const auto& stack : c.stacks) w.stacks.push_back(bind_t5_stack(b, stack));
    if (c.can.write_target)
        w.unembedding =
            b.unembedding(b.tied_table(names_of_t5_table(c, {}), c.vocab, c.d_model), "lm_head", c.d_model);
    return b.finish(std::move(w));
}

}  // namespace

const Family kT5{"t5", "T5", read_t5, bind_t5};
const Family kMt5{"mt5", "mT5", read_mt5, bind_t5};

}  // namespace headlight
