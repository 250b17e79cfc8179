// ViT (Dosovitskiy et al. 2021): an image cut into patches after a class token, a pre-norm encoder.
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
    r.widths(c, {"hidden_size"}, 768, {"num_attention_heads"}, 12, HeadDim{"head_dim"});
    StackConfig& s = c.stacks[0];
    s.causal = false;
    s.layers = r.layers({"num_hidden_layers"}, 12);
    s.d_mlp = r.mlp_width({"intermediate_size"}, 3072);
    c.vision.image = side(r, "image_size", 224, 1 << 13);
    c.vision.patch = side(r, "patch_size", 16, c.vision.image);
    c.vision.channels = r.integer({"num_channels"}, 3, 3, 3);
    c.context = c.vision.patches() + 1;
    c.norm_eps = r.number({"layer_norm_eps"}, 1e-12);
    c.attention_bias = r.boolean({"qkv_bias"}, true);
    c.positions = PositionScheme::learned;
    c.activation = r.activation({"hidden_act"}, "gelu");
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

Result<ModelWeights> bind_vit(WeightStore& store, const ModelConfig& c) {
    store.set_prefixes({"vit.", ""});
    Binder b(store, c);
    const int64_t p = c.vision.patch, d = c.d_model;
    StackWeights s;
    if (const float* positions = b.vector("embeddings.position_embeddings", {1, c.context, d}))
        s.position_embedding = Linear::of_floats(positions, nullptr, d, c.context, WeightLayout::out_in);
    s.layers = b.layers(c.stacks[0], "encoder.layer.", [&](LayerWeights& w, const std::string& at) {
        w.self.norm = b.norm(at + "layernorm_before");
        b.attention(w.self, c.stacks[0], at + "attention.", "attention.query", "attention.key",
                    "attention.value", "output.dense");
        w.mlp_norm = b.norm(at + "layernorm_after");
        b.mlp(w, c.stacks[0], at + "intermediate.dense", at + "output.dense");
    });
    s.final_norm = b.norm("layernorm");
    ModelWeights w;
    w.class_token = b.vector("embeddings.cls_token", {1, 1, d});
    const float* projection =
        b.vector("embeddings.patch_embeddings.projection.weight", {d, c.vision.channels, p, p});
    const float* bias = b.vector("embeddings.patch_embeddings.projection.bias", {d});
    w.patch = Linear::of_floats(projection, bias, c.vision.channels * p * p, d, WeightLayout::out_in);
    if (b.has("classifier.weight")) w.unembedding = b.linear("classifier", d, c.vocab, true);
    w.stacks.push_back(std::move(s));
    return b.finish(std::move(w));
}

}  // namespace

const Family kVit{"vit", "ViT", read_vit, bind_vit};

}  // namespace headlight
