// Apertus (Apertus Team 2025): Llama's layers with xIELU in plain MLPs, and norms of q and k.
#include "base/quoted.h"
#include "model/families/llama_like.h"

namespace headlight {

namespace {

/// Returns llama3's rotation, which the class takes if the file gives none.
Json usual_rope() {
    return {{"rope_type", "llama3"},  {"rope_theta", 12e6},      {"factor", 8.0},
            {"low_freq_factor", 1.0}, {"high_freq_factor", 4.0}, {"original_max_position_embeddings", 8192}};
}

Result<ModelConfig> read_apertus_like(const Json& given, const std::string& file, int64_t vocab) {
    Json root = given;
    root.erase("hidden_act");
    ConfigReader asked(given, file);
    if (!asked.has("rope_parameters") && !asked.has("rope_scaling")) root["rope_parameters"] = usual_rope();
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.head_dim = {or_null("head_dim")},
                                        .usual_activation = "silu",
                                        .usual_mlp = 14336,
                                        .usual_vocab = vocab,
                                        .usual_context = 65536,
                                        .usual_norm_eps = 1e-5});
    if (const std::string act = asked.text({"hidden_act"}, "xielu"); act != "xielu")
        r.fail(file + ": Apertus with the activation " + in_quotes(shortened(act)) +
               " is not computed; use one with xielu.");
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    for_layers(c, [](LayerSpec& layer, int) {
        layer.attention.qk_norm = QkNorm::per_head;
        layer.mlp.gated = false;
        layer.mlp.activation = Activation::xielu;
    });
    const int output = r.vocabulary(c.vocab, {or_null("output_vocab_size")});
    if (output != c.vocab && c.tied_unembedding)
        r.fail(file +
               ": an unembedding tied to embeddings of more tokens is not computed; set "
               "tie_word_embeddings to false.");
    c.vocab = output;
    set_rope(r, c, {.usual_theta = 12e6});
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelConfig> read_apertus(const Json& root, const std::string& file) {
    return read_apertus_like(root, file, 131072);
}
Result<ModelConfig> read_apertus1p5(const Json& root, const std::string& file) {
    return read_apertus_like(root, file, 266752);
}

constexpr const char* kApertusPrefixes[] = {"model.", "language_model.model.", "language_model.", ""};

constexpr TensorRow kApertusTensors[] = {
    {Slot::attn_norm, "layers.#.attention_layernorm"},
    {Slot::mlp_norm, "layers.#.feedforward_layernorm"},
    {Slot::xielu_positive, "layers.#.mlp.act_fn.alpha_p"},
    {Slot::xielu_negative, "layers.#.mlp.act_fn.alpha_n"},
    {Slot::xielu_beta, "layers.#.mlp.act_fn.beta", "", Stored::scalar},
    {Slot::xielu_end, "layers.#.mlp.act_fn.eps", "", Stored::scalar},
};
constexpr TensorNames kApertusNames{kApertusPrefixes, kApertusTensors, kLlamaTensors};

}  // namespace

const Family kApertus{"apertus", "Apertus", read_apertus, kApertusNames};
const Family kApertus1p5{"apertus1p5_text", "Apertus 1.5", read_apertus1p5, kApertusNames};

}  // namespace headlight
