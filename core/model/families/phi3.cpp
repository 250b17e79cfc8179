// Phi-3 and Phi-4-mini (Abdin et al. 2024): Llama's layers with q, k and v in one matrix, gate and up in
// another, and longrope.
#include "model/families/llama_like.h"

namespace headlight {

namespace {

Result<ModelConfig> read_phi3(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_width = 3072,
                                        .usual_mlp = 8192,
                                        .usual_vocab = 32064,
                                        .usual_context = 4096,
                                        .usual_norm_eps = 1e-5});
    const int window = read_window(r, 0);
    for_layers(c, [&](LayerSpec& layer, int) { layer.attention.window = window; });
    set_rope(r, c,
             {.share = "partial_rotary_factor",
              .rotated = RopeKeys::any_part,
              .usual_original = 4096,
              .longrope = true});
    c.end_id = 32000;
    return r.finish(c);
}

Status complete_phi3(const Gguf& file, const std::string& name, Json& config) {
    const Json &dims = file.value("phi3.rope.dimension_count"), &head = config["head_dim"];
    if (dims.is_number() && head.is_number() && head > 0)
        config["partial_rotary_factor"] = dims.get<double>() / head.get<double>();
    if (const Json& original = file.value("phi3.rope.scaling.original_context_length"); !original.is_null())
        config["original_max_position_embeddings"] = original;
    config.erase("rope_scaling");
    if (!file.tensors.count("rope_factors_long.weight")) return success();
    TRY(config["rope_scaling"], gguf_longrope(file, name));
    config["rope_scaling"]["attention_factor"] = 1;  // times rope.scaling.attn_factor
    return success();
}

constexpr TensorRow kPhi3Tensors[] = {
    {Slot::gate_up, "layers.#.mlp.gate_up_proj", "blk.#.ffn_up"},
};

}  // namespace

const Family kPhi3{"phi3",
                   "Phi-3",
                   read_phi3,
                   {kLlamaPrefixes, kPhi3Tensors, kLlamaTensors},
                   {"phi3", kUsualGgufKeys, false, complete_phi3}};

}  // namespace headlight
