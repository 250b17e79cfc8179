// Granite (IBM 2024): Llama's layers with factors on embeddings, scores, what blocks add, and logits.
// HyperCLOVA X also norms what blocks add, and multiplies the logits where Granite divides them.
#include "model/families/granite_like.h"

namespace headlight {

namespace {

/// Reads the factors but that of scores, which differ in their defaults.
void read_multipliers(ConfigReader& r, ModelConfig& c, float scale) {
    c.embed_scale = r.number({"embedding_multiplier"}, 1);
    const float residual = r.number({"residual_multiplier"}, 1);
    for_layers(c, [&](LayerSpec& layer, int) {
        layer.residual_scale = residual;
        layer.attention.scale = scale;
    });
    c.end_id = 2;
}

}  // namespace

void read_granite_multipliers(ConfigReader& r, ModelConfig& c) {
    read_multipliers(r, c, float(r.positive(r.root(), "attention_multiplier", 1)));
    c.logit_scale = 1 / float(r.positive(r.root(), "logits_scaling", 1));
}

namespace {

Result<ModelConfig> read_granite(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {});
    read_biases(r, c);
    read_granite_multipliers(r, c);
    set_rope(r, c);
    return r.finish(c);
}

Result<ModelConfig> read_hyperclovax(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {});
    read_biases(r, c);
    const float usual = c.stacks[0].layers[0].attention.score_scale();
    read_multipliers(r, c, float(r.positive(root, or_null("attention_multiplier"), usual)));
    c.logit_scale = r.number({"logits_scaling"}, 1);
    if (r.boolean({"use_post_norm"}, true))
        for_layers(c, [](LayerSpec& layer, int) { layer.norms = NormPlace::both; });
    set_rope(r, c);
    return r.finish(c);
}

/// Refuses files without rotary positions, which llama.cpp marks in this key.
Status complete_granite(const Gguf& file, const std::string& name, Json&) {
    if (file.value("granite.rope.scaling.finetuned") != false) return success();
    return Error{
        name +
        ": a Granite without rotary positions (rope.scaling.finetuned is false) is not computed; use "
        "one with them."};
}

constexpr TensorRow kHyperClovaTensors[] = {
    {Slot::attn_post_norm, "layers.#.post_norm1"},
    {Slot::mlp_post_norm, "layers.#.post_norm2"},
};

}  // namespace

const Family kGranite{
    "granite", "Granite", read_granite, kLlamaNames, {"granite", kUsualGgufKeys, true, complete_granite}};
const Family kHyperClovaX{
    "hyperclovax", "HyperCLOVA X", read_hyperclovax, {kLlamaPrefixes, kHyperClovaTensors, kLlamaTensors}};

}  // namespace headlight
