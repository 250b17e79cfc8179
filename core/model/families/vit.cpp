// ViT (Dosovitskiy et al. 2021): an image cut into patches after a class token, a pre-norm encoder. DINOv2
// (Oquab et al. 2023) scales each component of what blocks add; registers (Darcet et al. 2024) are tokens
// between the class token and the patches.
#include "base/cast.h"
#include "model/families.h"

namespace headlight {

namespace {

/// Reads the side of a square, given as one number or as two equal ones.
int side(ConfigReader& r, const char* key, int64_t usual, int64_t max) {
    const auto it = r.root().find(key);
    if (it == r.root().end() || !it->is_array()) return r.integer({key}, usual, 1, max);
    if (it->size() != 2 || (*it)[0] != (*it)[1])
        r.fail(wrong_type(r.file(), key, "one number or two equal ones", *it).message);
    return narrow<int>(
        r.keep(whole_number(it->empty() ? Json() : (*it)[0], key, 1, max, r.file()), int64_t{1}));
}

Result<ModelConfig> read_vit(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    c.kind = ModelKind::vision;
    LayerSpec layer;
    r.widths(c, layer.attention, {"hidden_size"}, 768, {"num_attention_heads"}, 12, HeadDim{"head_dim"});
    StackConfig& s = c.stacks[0];
    s.causal = false;
    const int layers = r.layers({"num_hidden_layers"}, 12);
    layer.mlp.width = r.mlp_width({"intermediate_size"}, 3072);
    c.vision.image = side(r, "image_size", 224, 1 << 13);
    c.vision.patch = side(r, "patch_size", 16, c.vision.image);
    c.vision.channels = r.integer({"num_channels"}, 3, 3, 3);
    c.context = c.vision.patches() + 1;
    c.norm_eps = r.number({"layer_norm_eps"}, 1e-12);
    layer.attention.bias = r.boolean({"qkv_bias"}, true);
    c.positions = PositionScheme::learned;
    layer.mlp.activation = r.activation({"hidden_act"}, "gelu");
    s.layers.assign(layers, layer);
    c.logits_bias = true;
    c.tied_unembedding = false;
    const Json labels = r.object("id2label");
    c.vocab = narrow<int>(labels.empty() ? r.integer({or_null("num_labels")}, 2, 1, 1 << 20)
                                         : std::min<size_t>(labels.size(), 1 << 20));
    for (int i = 0; i < c.vocab; ++i) {
        const auto it = labels.find(std::to_string(i));
        if (it != labels.end() && !it->is_string())
            r.fail(wrong_type(file, "id2label", "the names of the classes", *it).message);
        c.vision.labels.push_back(it != labels.end() && it->is_string() ? it->get<std::string>()
                                                                        : "class " + std::to_string(i));
    }
    return r.finish(c);
}

/// Reads DINOv2, whose classes read the class token and the mean patch: Headlight shows its layers without.
ModelConfig read_dinov2_common(ConfigReader& r, int patch) {
    ModelConfig c;
    c.kind = ModelKind::vision;
    LayerSpec layer;
    r.widths(c, layer.attention, {"hidden_size"}, 768, {"num_attention_heads"}, 12, HeadDim{"head_dim"});
    StackConfig& s = c.stacks[0];
    s.causal = false;
    const int layers = r.layers({"num_hidden_layers"}, 12);
    c.vision.image = side(r, "image_size", 224, 1 << 13);
    c.vision.patch = side(r, "patch_size", patch, c.vision.image);
    c.vision.channels = r.integer({"num_channels"}, 3, 3, 3);
    c.norm_eps = r.number({"layer_norm_eps"}, 1e-6);
    layer.attention.bias = r.boolean({"qkv_bias"}, true);
    c.positions = PositionScheme::learned;
    c.position_table = c.vision.patches() + 1;
    layer.layer_scale = true;
    layer.mlp.activation = r.activation({"hidden_act"}, "gelu");
    const float ratio = r.number({"mlp_ratio"}, 4);
    if (!(ratio * float(c.d_model) >= 1 && ratio * float(c.d_model) <= float(1 << 20)))
        r.fail(r.file() + ": mlp_ratio gives the MLP a width that is not between 1 and 1048576; correct it.");
    else
        layer.mlp.width = int(double(ratio) * c.d_model);
    if (r.boolean({"use_swiglu_ffn"}, false)) {
        layer.mlp.gated = true;
        layer.mlp.activation = Activation::silu;
        layer.mlp.width = (int(layer.mlp.width * 2.0 / 3) + 7) / 8 * 8;
    }
    s.layers.assign(layers, layer);
    c.tied_unembedding = false;
    return c;
}

Result<ModelConfig> read_dinov2(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_dinov2_common(r, 14);
    c.context = 1 + c.vision.patches();
    return r.finish(c);
}

Result<ModelConfig> read_dinov2_registers(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_dinov2_common(r, 16);
    c.vision.registers = r.integer({"num_register_tokens"}, 4, 0, 1 << 12);
    c.context = 1 + c.vision.registers + c.vision.patches();
    return r.finish(c);
}

constexpr const char *kDinoPrefixes[] = {"dinov2.", ""},
                     *kRegistersPrefixes[] = {"dinov2_with_registers.", ""};
constexpr const char* kVitPrefixes[] = {"vit.", ""};

constexpr TensorRow kVitTensors[] = {
    {Slot::class_token, "embeddings.cls_token", "", Stored::pixels},
    {Slot::patch, "embeddings.patch_embeddings.projection", "", Stored::pixels},
    {Slot::position_embedding, "embeddings.position_embeddings", "", Stored::pixels},
    {Slot::attn_norm, "encoder.layer.#.layernorm_before"},
    {Slot::q, "encoder.layer.#.attention.attention.query"},
    {Slot::k, "encoder.layer.#.attention.attention.key"},
    {Slot::v, "encoder.layer.#.attention.attention.value"},
    {Slot::o, "encoder.layer.#.attention.output.dense"},
    {Slot::mlp_norm, "encoder.layer.#.layernorm_after"},
    {Slot::up, "encoder.layer.#.intermediate.dense"},
    {Slot::down, "encoder.layer.#.output.dense"},
    {Slot::final_norm, "layernorm"},
    {Slot::unembedding, "classifier"},
    {Slot::unembedding_bias, "classifier.bias"},
};

constexpr TensorRow kDinoLayers[] = {
    {Slot::class_token, "embeddings.cls_token", "", Stored::pixels},
    {Slot::registers, "embeddings.register_tokens", "", Stored::pixels},
    {Slot::patch, "embeddings.patch_embeddings.projection", "", Stored::pixels},
    {Slot::position_embedding, "embeddings.position_embeddings", "", Stored::pixels},
    {Slot::attn_norm, "encoder.layer.#.norm1"},
    {Slot::q, "encoder.layer.#.attention.attention.query"},
    {Slot::k, "encoder.layer.#.attention.attention.key"},
    {Slot::v, "encoder.layer.#.attention.attention.value"},
    {Slot::o, "encoder.layer.#.attention.output.dense"},
    {Slot::attn_scale, "encoder.layer.#.layer_scale1.lambda1"},
    {Slot::mlp_norm, "encoder.layer.#.norm2"},
    {Slot::gate_up, "encoder.layer.#.mlp.weights_in"},
    {Slot::up, "encoder.layer.#.mlp.fc1"},
    {Slot::down, "encoder.layer.#.mlp.fc2"},
    {Slot::down, "encoder.layer.#.mlp.weights_out"},
    {Slot::mlp_scale, "encoder.layer.#.layer_scale2.lambda1"},
    {Slot::final_norm, "layernorm"},
};

}  // namespace

const Family kDinov2{"dinov2", "DINOv2", read_dinov2, {kDinoPrefixes, kDinoLayers}};
const Family kDinov2Registers{"dinov2_with_registers",
                              "DINOv2 with registers",
                              read_dinov2_registers,
                              {kRegistersPrefixes, kDinoLayers}};
const Family kVit{"vit", "ViT", read_vit, {kVitPrefixes, kVitTensors}};

}  // namespace headlight
