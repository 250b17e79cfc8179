// Llama's layers with other sizes and biases. SmolLM3 (Hugging Face 2025) rotates three of four layers;
// Arcee's MLP has no gate; Seed-OSS biases q, k and v; InternLM3 and IQuest-Coder differ in defaults alone.
#include <algorithm>

#include "model/families/llama_like.h"

namespace headlight {

std::vector<bool> rotated_layers(ConfigReader& r, int depth) {
    const int every = r.integer({"no_rope_layer_interval"}, 4, 1, 1000);
    std::vector<bool> out;
    for (int l = 0; l < depth; ++l) out.push_back((l + 1) % every != 0);
    if (!r.has("no_rope_layers")) return out;
    const Json list = r.keep(json_list(r.root(), "no_rope_layers", r.file()), Json(Json::array()));
    const bool numbers =
        std::all_of(list.begin(), list.end(), [](const Json& v) { return v.is_number() || v.is_boolean(); });
    if (isize(list) != depth || !numbers) {
        r.fail(r.file() + ": \"no_rope_layers\" must mark each of the " + std::to_string(depth) +
               " layers with 1, if it rotates q and k, or 0; correct the file.");
        return out;
    }
    for (int l = 0; l < depth; ++l) out[l] = list[l] != 0 && list[l] != false;
    return out;
}

namespace {

Result<ModelConfig> read_smollm3(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 4,
                                        .usual_width = 2048,
                                        .usual_heads = 16,
                                        .usual_layers = 36,
                                        .usual_vocab = 128256,
                                        .usual_context = 32768,
                                        .usual_tied = true});
    read_biases(r, c);
    const std::vector<bool> rotated = rotated_layers(r, c.stacks[0].depth());
    const bool slides = r.boolean({"use_sliding_window"}, false);
    r.windows(c.stacks[0], read_window(r, 0), [&](int layer) { return slides && !rotated[layer]; });
    set_rope(r, c, {.usual_theta = 2e6, .reads_layer_types = true});
    for_layers(c, [&](LayerSpec& layer, int l) {
        if (!rotated[l]) layer.attention.rope = {};
    });
    c.end_id = 128001;
    return r.finish(c);
}

Result<ModelConfig> read_seed_oss(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 8,
                                        .head_dim = {or_null("head_dim"), 128},
                                        .usual_heads = 80,
                                        .usual_layers = 64,
                                        .usual_mlp = 27648,
                                        .usual_vocab = 155136,
                                        .usual_context = 524288});
    const bool mlp = r.boolean({"mlp_bias"}, false);
    for_layers(c, [&](LayerSpec& layer, int) { layer.mlp.bias = mlp; });
    set_attention_bias(c, r.boolean({"attention_bias"}, true), r.boolean({"attention_out_bias"}, false));
    set_rope(r, c);
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelConfig> read_internlm3(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 2,
                                        .head_dim = {or_null("head_dim"), 128},
                                        .usual_layers = 48,
                                        .usual_mlp = 10240,
                                        .usual_vocab = 128512,
                                        .usual_context = 32768,
                                        .usual_norm_eps = 1e-5});
    const bool attention = r.boolean({"qkv_bias", "attention_bias"}, false),
               mlp = r.boolean({"bias", "mlp_bias"}, false);
    if (attention != mlp)
        r.fail(
            file +
            ": \"qkv_bias\" and \"bias\" differ, which an InternLM3 cannot do; set both to the same value.");
    set_attention_bias(c, attention, attention);
    for_layers(c, [&](LayerSpec& layer, int) { layer.mlp.bias = mlp; });
    set_rope(r, c);
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelConfig> read_iquestcoder(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 8,
                                        .head_dim = {or_null("head_dim"), 128},
                                        .usual_width = 5120,
                                        .usual_heads = 40,
                                        .usual_layers = 80,
                                        .usual_mlp = 27648,
                                        .usual_vocab = 76800,
                                        .usual_context = 131072,
                                        .usual_norm_eps = 1e-5});
    read_biases(r, c);
    if (r.has("clip_qkv") || r.boolean({or_null("use_sliding_window")}, false))
        r.fail(file +
               ": an IQuest-Coder neither clips q, k and v (clip_qkv) nor has windows (use_sliding_window); "
               "use a model without.");
    set_rope(r, c);
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelConfig> read_arcee(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_activation = "relu2",
                                        .usual_width = 2560,
                                        .usual_mlp = 18432,
                                        .usual_context = 4096,
                                        .usual_norm_eps = 1e-5});
    read_biases(r, c);
    for_layers(c, [](LayerSpec& layer, int) { layer.mlp.gated = false; });
    set_rope(r, c);
    c.end_id = 128001;
    return r.finish(c);
}

}  // namespace

const Family kSmolLm3{"smollm3", "SmolLM3", read_smollm3, kLlamaNames, {"smollm3", kUsualGgufKeys, true}};
const Family kSeedOss{"seed_oss",
                      "Seed-OSS",
                      read_seed_oss,
                      {kLlamaPrefixes, kNormAfterAttention, kLlamaTensors},
                      {"seed_oss", kUsualGgufKeys}};
const Family kInternLm3{"internlm3", "InternLM3", read_internlm3, kLlamaNames};
const Family kIQuestCoder{"iquestcoder", "IQuest-Coder", read_iquestcoder, kLlamaNames};
const Family kArcee{"arcee", "Arcee", read_arcee, kLlamaNames, {"arcee", kUsualGgufKeys, true}};

}  // namespace headlight
