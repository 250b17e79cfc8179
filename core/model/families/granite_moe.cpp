// Granite-MoE (IBM 2024): Granite's layers with experts, and an MLP beside them that all tokens share.
// Granite SWA (IBM 2026): windows, a base of the rotation for each layer, and sinks in the softmax.
#include "model/families/granite_like.h"
#include "model/families/moe_like.h"

namespace headlight {

namespace {

void set_granite_experts(ConfigReader& r, ModelConfig& c, bool shared) {
    const ExpertsSpec experts{.count = expert_count(r, {or_null("num_local_experts")}, 8),
                              .used = expert_count(r, {or_null("num_experts_per_tok")}, 2),
                              .width = c.stacks[0].layers[0].mlp.width,
                              .routing = Routing::softmax_of_chosen};
    set_experts(r, c, experts, shared ? r.integer({"shared_intermediate_size"}, 0, 0, 1 << 20) : 0,
                [](int) { return true; });
}

/// Reads the kind of each layer, and the base of its rotation; 0 or null: not rotated.
void set_sliding_layers(ConfigReader& r, ModelConfig& c) {
    r.windows(c.stacks[0], read_window(r, 128), [](int layer) { return layer % 4 != 0; });
    for_layers(c, [](LayerSpec& layer, int) { layer.attention.sinks = true; });
    if (!r.has("layer_rope_theta")) return;
    const Json list = r.keep(json_list(r.root(), "layer_rope_theta", r.file()), Json(Json::array()));
    if (isize(list) != c.stacks[0].depth()) {
        r.fail(r.file() + ": \"layer_rope_theta\" must give a base for each of the " +
               std::to_string(c.stacks[0].depth()) + " layers, or 0; correct the file.");
        return;
    }
    for_layers(c, [&](LayerSpec& layer, int l) {
        Rope& rope = layer.attention.rope;
        if (list[l].is_null() || list[l] == 0)
            rope = {};
        else
            rope.theta = r.positive(Json{{"layer_rope_theta", list[l]}}, "layer_rope_theta", 1);
        if (rope.dims && rope.scaling == RopeScaling::yarn && rope.theta == 1)
            r.fail(r.file() + ": YaRN needs a base other than 1 in layer_rope_theta; correct the file.");
    });
}

Result<ModelConfig> read_granite_swa(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 4,
                                        .usual_width = 2560,
                                        .usual_heads = 20,
                                        .usual_layers = 24,
                                        .usual_mlp = 8192,
                                        .usual_vocab = 100352,
                                        .usual_context = 8192,
                                        .usual_tied = true,
                                        .usual_norm_eps = 1e-5});
    read_biases(r, c);
    read_granite_multipliers(r, c);
    set_rope(r, c, {.reads_layer_types = true});
    set_sliding_layers(r, c);
    c.end_id = 100257;
    return r.finish(c);
}

/// Reads Granite-MoE; swa: with Granite SWA's layers.
Result<ModelConfig> read_granite_moe_kind(const Json& root, const std::string& file, bool shared, bool swa) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {});
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    read_granite_multipliers(r, c);
    set_granite_experts(r, c, shared);
    set_rope(r, c, {.reads_layer_types = swa});
    if (swa) set_sliding_layers(r, c);
    return r.finish(c);
}

Result<ModelConfig> read_granitemoe(const Json& root, const std::string& file) {
    return read_granite_moe_kind(root, file, false, false);
}
Result<ModelConfig> read_granitemoeshared(const Json& root, const std::string& file) {
    return read_granite_moe_kind(root, file, true, false);
}
Result<ModelConfig> read_granitemoe_swa(const Json& root, const std::string& file) {
    return read_granite_moe_kind(root, file, true, true);
}

constexpr TensorRow kGraniteSwaTensors[] = {
    {Slot::sinks, "layers.#.self_attn.sinks"},
};
constexpr TensorNames kGraniteMoeNames{kLlamaPrefixes, kGraniteMoeTensors, kLlamaTensors};

}  // namespace

const Family kGraniteSwa{
    "granite_swa", "Granite SWA", read_granite_swa, {kLlamaPrefixes, kGraniteSwaTensors, kLlamaTensors}};
const Family kGraniteMoe{"granitemoe", "Granite-MoE", read_granitemoe, kGraniteMoeNames};
const Family kGraniteMoeShared{"granitemoeshared",
                               "Granite-MoE with a shared MLP",
                               read_granitemoeshared,
                               kGraniteMoeNames,
                               {"granitemoe", kUsualGgufKeys, true}};
const Family kGraniteMoeSwa{"granitemoe_swa", "Granite-MoE SWA", read_granitemoe_swa, kGraniteMoeNames};

}  // namespace headlight
