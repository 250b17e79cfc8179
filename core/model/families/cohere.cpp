// Command R (Cohere 2024): attention and MLP read one norm without bias; neighboring components of q and k
// are rotated. Command R+ norms each head by weights of its own. Command R7B rotates layers with a window
// alone.
#include "model/families/moe_like.h"

namespace headlight {

namespace {

ModelConfig read_cohere_like(ConfigReader& r, const RopeKeys& rope,
                             const HeadDim& head_dim = {or_null("head_dim")}) {
    ModelConfig c = read_llama_like(r, {.head_dim = head_dim,
                                        .usual_width = 8192,
                                        .usual_heads = 64,
                                        .usual_layers = 40,
                                        .usual_mlp = 22528,
                                        .usual_vocab = 256000,
                                        .usual_context = 8192,
                                        .usual_tied = true,
                                        .norm_eps = "layer_norm_eps",
                                        .usual_norm_eps = 1e-5});
    c.norm = NormKind::layer_norm;
    c.logit_scale = r.number({"logit_scale"}, 0.0625);
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    set_rope(r, c, rope);
    for_layers(c, [](LayerSpec& layer, int) {
        layer.parallel = layer.shared_norm = true;
        layer.attention.rope.interleaved = true;
    });
    c.end_id = 255001;
    return c;
}

Result<ModelConfig> read_cohere(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_cohere_like(r, {.usual_theta = 500000});
    if (r.boolean({or_null("use_qk_norm")}, false))
        for_layers(c, [](LayerSpec& layer, int) { layer.attention.qk_norm = QkNorm::own_weights; });
    return r.finish(c);
}

Result<ModelConfig> read_cohere2(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_cohere_like(r, {.reads_layer_types = true});
    const int every = r.integer({"sliding_window_pattern"}, 4, 1, 1000);
    r.windows(c.stacks[0], read_window(r, 4096), [every](int layer) { return (layer + 1) % every != 0; });
    rotate_windows_alone(c);
    return r.finish(c);
}

/// Reads the experts, and averages them with what all tokens share if the file says so.
void set_cohere_experts(ConfigReader& r, ModelConfig& c, const std::function<bool(int)>& sparse) {
    const int width = c.stacks[0].layers[0].mlp.width,
              shared = r.integer({"num_shared_experts"}, 0, 0, 1 << 10);
    const std::string by = r.text({"expert_selection_fn"}, "softmax"),
                      joined = r.text({"shared_expert_combination_strategy"}, "average");
    if (by != "softmax" && by != "sigmoid")
        r.fail(wrong_type(r.file(), "expert_selection_fn", "\"softmax\" or \"sigmoid\"", Json(by)).message);
    if (joined != "average" && joined != "sum")
        r.fail(
            wrong_type(r.file(), "shared_expert_combination_strategy", "\"average\" or \"sum\"", Json(joined))
                .message);
    const float share = shared && joined == "average" ? 0.5f : 1.0f;
    const bool softmax = by == "softmax", normalize = r.boolean({"norm_topk_prob"}, true);
    const ExpertsSpec experts{.count = expert_count(r, {"num_experts"}, 8),
                              .used = expert_count(r, {"num_experts_per_tok"}, 2),
                              .width = width,
                              .routing = softmax ? Routing::softmax_of_chosen : Routing::sigmoid,
                              .by_scores = !softmax,
                              .normalize = !softmax && normalize,
                              .scale = share,
                              .shared_scale = share};
    const int dense = r.has("prefix_dense_intermediate_size")
                          ? r.mlp_width({"prefix_dense_intermediate_size"}, width)
                          : width;
    for_layers(c, [dense](LayerSpec& layer, int) { layer.mlp.width = dense; });
    set_experts(r, c, experts, shared * width, sparse);
}

Result<ModelConfig> read_cohere2_moe(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_cohere_like(r, {.reads_layer_types = true}, {"head_dim", 128});
    if (r.has("rms_norm_eps")) {
        c.norm = NormKind::rms_norm;
        c.norm_eps = r.number({"rms_norm_eps"}, 1e-5);
    }
    const int every = r.integer({"sliding_window_pattern"}, 4, 1, 1000),
              every_dense = r.integer({"prefix_dense_sliding_window_pattern"}, 1, 1, 1000),
              first = r.integer({"first_k_dense_replace"}, 0, 0, 1000);
    r.windows(c.stacks[0], read_window(r, 4096),
              [=](int l) { return l < first ? (l + 1) % every_dense != 0 : (l - first + 1) % every != 0; });
    const auto sparse = listed_sparse(r, c, from_layer(first));
    set_cohere_experts(r, c, sparse);
    for_layers(c, [&](LayerSpec& layer, int l) {
        if (!layer.attention.window && (every_dense != 1 || sparse(l))) layer.attention.rope = {};
    });
    return r.finish(c);
}

Status complete_cohere(const Gguf& file, const std::string&, Json& config) {
    config["use_qk_norm"] = file.tensors.count("blk.0.attn_q_norm.weight") > 0;
    return success();
}

}  // namespace

const Family kCohere{
    "cohere", "Command R", read_cohere, kLlamaNames, {"command-r", kUsualGgufKeys, true, complete_cohere}};
const Family kCohere2Moe{"cohere2_moe", "Command A-MoE", read_cohere2_moe, kMoeNames};
const Family kCohere2{"cohere2", "Command R7B", read_cohere2, kLlamaNames, {"cohere2", kUsualGgufKeys, true}};

}  // namespace headlight
