// Marian (Junczys-Dowmunt et al. 2018), the transformer of Vaswani et al. 2017 with sinusoidal positions, and
// BART (Lewis et al. 2020), with learned ones, PLBART (Ahmad et al. 2021) and Blenderbot Small: post-norm
// encoder and decoder. mBART (Liu et al. 2020), M2M100 (Fan et al. 2021; NLLB), Pegasus (Zhang et al. 2020)
// and Blenderbot (Roller et al. 2021) are pre-norm. Decoders saved alone are language models.
#include <cmath>

#include "base/cast.h"
#include "base/quoted.h"
#include "model/families/block_sparse.h"
#include "model/families/longformer.h"
#include "model/families/pairs/bart_tensors.h"

namespace headlight {

namespace {

constexpr int kBartOffset = 2;

/// Returns whether the folder holds the decoder alone, as a language model. Refuses other halves: their
/// tensors have other names.
bool is_decoder_alone(ConfigReader& r) {
    const std::vector<std::string> classes = r.architectures();
    std::string half = classes.empty() && !r.boolean({or_null("is_encoder_decoder")}, true)
                           ? "is_encoder_decoder false"
                           : "";
    for (const std::string& name : classes) {
        if (name.ends_with("ForCausalLM")) return true;
        for (const char* ending : {"Encoder", "Decoder"})
            if (name.ends_with(ending)) half = name;
    }
    if (!half.empty())
        r.fail(r.file() + ": this is one half of an encoder–decoder (" + shortened(half) +
               "), which Headlight does not open; use the whole model.");
    return false;
}

/// Drops the encoder, and attention to it.
void keep_decoder(ModelConfig& c) {
    c.kind = ModelKind::decoder;
    c.stacks.erase(c.stacks.begin());
    StackConfig& s = c.stacks[0];
    s.name = "blocks";
    s.decoder_alone = true;
    s.source = -1;
    for (LayerSpec& layer : s.layers) layer.second.reset();
    if (s.norms_tokens) c.embed_scale = 1;  // acts in Blenderbot Small's encoder alone
    c.logits_bias = false;
}

Result<ModelConfig> finish_whole_or_half(ConfigReader& r, ModelConfig c) {
    if (is_decoder_alone(r)) keep_decoder(c);
    return r.finish(std::move(c));
}

/// Holds the defaults in which the classes differ; BART's.
struct BartUsual {
    int64_t width = 1024, layers = 12, decoder_layers = 12, heads = 16, mlp = 4096;
    int64_t context = 1024, vocabulary = 50265, start = 2, end = 2;
    const char* activation = "gelu";
    bool scales = false, starts_at_none = false;  // starts_at_none: the class names no start token
    NormPlace norms = NormPlace::after;
};

ModelConfig read_bart_common(ConfigReader& r, const BartUsual& usual = {}) {
    ModelConfig c;
    c.kind = ModelKind::encoder_decoder;
    c.stacks.assign(2, {});
    LayerSpec layer;
    r.widths(c, layer.attention, {"hidden_size", "d_model"}, usual.width,
             {"num_attention_heads", "encoder_attention_heads"}, usual.heads);
    LayerSpec of_decoder = layer;
    r.heads(of_decoder.attention, c.d_model, {"decoder_attention_heads"}, usual.heads);
    StackConfig &encoder = c.stacks[0], &decoder = c.stacks[1];
    encoder.name = "encoder";
    decoder.name = "decoder";
    encoder.causal = false;
    decoder.source = 0;
    const int layers = r.layers({"num_hidden_layers", "encoder_layers"}, usual.layers),
              decoder_layers = r.layers({"decoder_layers"}, usual.decoder_layers);
    layer.mlp.width = r.mlp_width({"encoder_ffn_dim"}, usual.mlp);
    of_decoder.mlp.width = r.mlp_width({"decoder_ffn_dim"}, usual.mlp);
    c.context = r.context({"max_position_embeddings"}, usual.context);
    layer.norms = of_decoder.norms = usual.norms;
    c.final_norm = usual.norms == NormPlace::before;
    layer.mlp.activation = of_decoder.mlp.activation =
        r.activation({"activation_function"}, usual.activation);
    of_decoder.second = of_decoder.attention;
    encoder.layers.assign(layers, layer);
    decoder.layers.assign(decoder_layers, of_decoder);
    if (r.boolean({"scale_embedding"}, usual.scales)) c.embed_scale = std::sqrt(float(c.d_model));
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    c.logits_bias = true;
    return c;
}

/// Reads what all but Marian have: one vocabulary.
ModelConfig read_bart_like(ConfigReader& r, const BartUsual& usual) {
    ModelConfig c = read_bart_common(r, usual);
    c.stacks[0].vocab = c.stacks[1].vocab = c.vocab = r.vocabulary(usual.vocabulary);
    const JsonKey start = "decoder_start_token_id";
    c.start_id = r.integer({usual.starts_at_none ? or_null(start.name) : start}, usual.start, 0, 1 << 23);
    c.end_id = narrow<int>(usual.end);
    c.positions = PositionScheme::learned;
    return c;
}

Result<ModelConfig> read_marian(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bart_common(r);
    c.positions = PositionScheme::sinusoidal;
    c.stacks[0].vocab = r.vocabulary(58101);
    c.shared_embedding = r.boolean({"share_encoder_decoder_embeddings"}, true);
    c.stacks[1].vocab = c.vocab = r.vocabulary(c.stacks[0].vocab, {or_null("decoder_vocab_size")});
    c.start_id = r.integer({"decoder_start_token_id", or_null("pad_token_id")}, 58100, 0, 1 << 23);
    c.end_id = 0;
    return finish_whole_or_half(r, c);
}

Result<ModelConfig> read_with_embedding_norm(const Json& root, const std::string& file,
                                             const BartUsual& usual) {
    ConfigReader r(root, file);
    ModelConfig c = read_bart_like(r, usual);
    c.embed_norm = true;
    c.position_offset = kBartOffset;
    return finish_whole_or_half(r, c);
}

Result<ModelConfig> read_bart(const Json& root, const std::string& file) {
    return read_with_embedding_norm(root, file, {});
}
Result<ModelConfig> read_mvp(const Json& root, const std::string& file) {
    if (ConfigReader r(root, file); r.boolean({"use_prompt"}, false))
        return Error{file + ": MVP's learned prompts (use_prompt) are not computed; use a model without."};
    return read_with_embedding_norm(root, file, {.vocabulary = 50267});
}
Result<ModelConfig> read_plbart(const Json& root, const std::string& file) {
    BartUsual usual{.width = 768, .layers = 6, .decoder_layers = 6, .heads = 12, .mlp = 3072};
    usual.vocabulary = 50005;
    usual.scales = usual.starts_at_none = true;
    return read_with_embedding_norm(root, file, usual);
}
Result<ModelConfig> read_mbart(const Json& root, const std::string& file) {
    return read_with_embedding_norm(root, file, {.starts_at_none = true, .norms = NormPlace::before});
}

Result<ModelConfig> read_blenderbot(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    const BartUsual usual{.width = 2560,
                          .layers = 2,
                          .decoder_layers = 24,
                          .heads = 32,
                          .mlp = 10240,
                          .context = 128,
                          .vocabulary = 8008,
                          .start = 1,
                          .norms = NormPlace::before};
    return finish_whole_or_half(r, read_bart_like(r, usual));
}

Result<ModelConfig> read_blenderbot_small(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bart_like(r, {.width = 512,
                                       .layers = 8,
                                       .decoder_layers = 8,
                                       .heads = 16,
                                       .mlp = 2048,
                                       .context = 512,
                                       .start = 1});
    c.embed_norm = c.stacks[1].norms_tokens = true;
    return finish_whole_or_half(r, c);
}

Result<ModelConfig> read_pegasus(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bart_like(r, {.start = 0, .end = 1, .norms = NormPlace::before});
    c.positions = PositionScheme::sinusoidal;
    return finish_whole_or_half(r, c);
}

Result<ModelConfig> read_bigbird_pegasus(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bart_like(r, {.layers = 16,
                                       .decoder_layers = 16,
                                       .context = 4096,
                                       .vocabulary = 96103,
                                       .start = 2,
                                       .end = 1,
                                       .activation = "gelu_new",
                                       .scales = true,
                                       .norms = NormPlace::before});
    read_block_sparse(r, c);
    const bool bias = r.boolean({"use_bias"}, false);
    for (StackConfig& s : c.stacks)
        for (LayerSpec& layer : s.layers) {
            layer.attention.bias = layer.attention.output_bias = bias;
            if (layer.second) layer.second = layer.attention;
        }
    return finish_whole_or_half(r, c);
}

/// Reads sinusoids as fairseq makes them, counted from past the padding id.
void read_fairseq_positions(ConfigReader& r, ModelConfig& c, int padding = 1) {
    c.positions = PositionScheme::sinusoidal;
    c.waves_end_at_base = true;
    c.position_pad = r.integer({"pad_token_id"}, padding, 0, 1 << 23);
    c.position_offset = c.position_pad + 1;
    c.logits_bias = false;
}

Result<ModelConfig> read_m2m(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bart_like(
        r, {.vocabulary = 128112, .activation = "relu", .scales = true, .norms = NormPlace::before});
    read_fairseq_positions(r, c);
    return finish_whole_or_half(r, c);
}

/// Reads FSMT (Ng et al. 2019), whose languages have a vocabulary each.
Result<ModelConfig> read_fsmt(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bart_common(r, {.activation = "relu", .scales = true});
    c.stacks[0].vocab = r.vocabulary(42024, {"src_vocab_size"});
    c.stacks[1].vocab = c.vocab = r.vocabulary(42024, {"tgt_vocab_size"});
    c.shared_embedding = c.tied_unembedding = r.boolean({"tie_word_embeddings"}, false);
    c.start_id = r.integer({"decoder_start_token_id"}, 2, 0, 1 << 23);
    c.end_id = 2;
    read_fairseq_positions(r, c);
    c.waves_stored = true;
    return finish_whole_or_half(r, c);
}

/// Reads the text halves of SeamlessM4T (Barrault et al. 2023).
template <int context>
Result<ModelConfig> read_seamless(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bart_like(r, {.layers = 24,
                                       .decoder_layers = 24,
                                       .mlp = 8192,
                                       .context = context,
                                       .vocabulary = 256102,
                                       .start = 3,
                                       .end = 3,
                                       .activation = "relu",
                                       .scales = true,
                                       .norms = NormPlace::before});
    c.norm_eps = r.number({"layer_norm_eps"}, 1e-5);
    if (c.norm_eps != 1e-5f)
        r.fail(file +
               ": the norms of SeamlessM4T's text halves use 1e-5, whatever layer_norm_eps says; set it to "
               "that.");
    read_fairseq_positions(r, c, 0);
    return r.finish(c);
}

/// Reads LED (Beltagy et al. 2020): BART whose encoder sees a window, with positions for longer texts.
Result<ModelConfig> read_led(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bart_like(r, {});
    c.embed_scale = 1;  // its class reads no scale_embedding
    c.embed_norm = true;
    c.context = c.stacks[0].context = r.context({"max_encoder_position_embeddings"}, 16384);
    c.stacks[1].context = r.context({"max_decoder_position_embeddings"}, 1024);
    read_window_of_each(r, c.stacks[0]);
    return finish_whole_or_half(r, c);
}

/// Reads a decoder that comes alone.
Result<ModelConfig> read_lone_decoder(ConfigReader& r, ModelConfig c) {
    if (!is_decoder_alone(r))
        r.fail(r.file() +
               ": only its decoder alone is computed, saved as a language model (…ForCausalLM); what the "
               "encoder reads is not text.");
    keep_decoder(c);
    return r.finish(std::move(c));
}

/// Reads TrOCR's decoder (Li et al. 2021), which reads pictures of text through another model.
Result<ModelConfig> read_trocr(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    const int heads = r.integer({"decoder_attention_heads"}, 16, 1, 1 << 12);
    ModelConfig c = read_bart_like(r, {.heads = heads, .context = 512});
    c.embed_norm = r.boolean({"layernorm_embedding"}, true);
    c.position_offset = kBartOffset;
    if (!r.boolean({"use_learned_position_embeddings"}, true)) read_fairseq_positions(r, c);
    return read_lone_decoder(r, c);
}

/// Reads the decoder of Whisper (Radford et al. 2022), which hears through its encoder.
Result<ModelConfig> read_whisper(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bart_like(r, {.width = 384,
                                       .layers = 4,
                                       .decoder_layers = 4,
                                       .heads = 6,
                                       .mlp = 1536,
                                       .vocabulary = 51865,
                                       .start = 50257,
                                       .end = 50256,
                                       .norms = NormPlace::before});
    c.context = r.context({"max_target_positions"}, 448);
    c.embed_scale = 1;  // scale_embedding acts in its encoder alone
    for (LayerSpec& layer : c.stacks[1].layers) layer.attention.key_bias = false;
    return read_lone_decoder(r, c);
}

}  // namespace

const Family kMarian{"marian", "Marian", read_marian, kBartNames};
const Family kBart{"bart", "BART", read_bart, kBartNames};
const Family kMvp{"mvp", "MVP", read_mvp, kEncoderFirstNames};
const Family kPlBart{"plbart", "PLBART", read_plbart, kEncoderFirstNames};
const Family kMBart{"mbart", "mBART", read_mbart, kBartNames};
const Family kM2M100{"m2m_100", "M2M100", read_m2m, kBartNames};
const Family kFsmt{"fsmt", "FSMT", read_fsmt, {kBartPrefixes, kFsmtTensors, kBartTensors}};
const Family kLed{"led", "LED", read_led, {kLedPrefixes, kEncoderFirst, kLedTensors, kBartTensors}};
const Family kTrOcr{"trocr", "TrOCR (decoder)", read_trocr, {kBartPrefixes, kLoneHeads, kBartTensors}};
const Family kWhisper{
    "whisper", "Whisper (decoder)", read_whisper, {kBartPrefixes, kLoneHeads, kBartTensors}};
const Family kSeamless{"seamless_m4t", "SeamlessM4T", read_seamless<1024>, kSeamlessNames};
const Family kSeamless2{"seamless_m4t_v2", "SeamlessM4T v2", read_seamless<4096>, kSeamlessNames};
const Family kPegasus{"pegasus", "Pegasus", read_pegasus, kBartNames};
const Family kBigBirdPegasus{"bigbird_pegasus",
                             "BigBird-Pegasus",
                             read_bigbird_pegasus,
                             {kBartPrefixes, kEncoderFirst, kBigBirdPegasusTensors, kBartTensors}};
const Family kBlenderbot{"blenderbot", "Blenderbot", read_blenderbot, kEncoderFirstNames};
const Family kBlenderbotSmall{"blenderbot-small", "Blenderbot Small", read_blenderbot_small,
                              kEncoderFirstNames};

}  // namespace headlight
