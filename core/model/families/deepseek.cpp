// Decoders with latent attention and a mixture of experts: DeepSeek V2 and V3 (DeepSeek-AI 2024), and those
// that follow V3 in other sizes. GLM-4-MoE-Lite and A.X K1 list their sparse layers, A.X K1 also norms what
// experts add. DeepSeek V3.2 and GLM-MoE-DSA choose keys by an indexer, which short texts do not need.
#include <algorithm>

#include "base/cast.h"
#include "base/quoted.h"
#include "model/families/latent.h"

namespace headlight {

namespace {

/// Reads DeepSeek V3's experts and those of all tokens.
void set_sigmoid_experts(ConfigReader& r, ModelConfig& c, const ExpertsSpec& usual,
                         const std::function<bool(int)>& sparse) {
    const ExpertsSpec experts = deepseek_experts(r, usual, {"n_routed_experts", "num_local_experts"});
    set_experts(r, c, experts, r.integer({"n_shared_experts"}, 1, 0, 1 << 10) * experts.width, sparse);
}

Result<ModelConfig> read_deepseek_v3(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 128,
                                        .head_dim = {or_null("head_dim"), 1},
                                        .usual_width = 7168,
                                        .usual_heads = 128,
                                        .usual_layers = 61,
                                        .usual_mlp = 18432,
                                        .usual_vocab = 129280,
                                        .usual_context = 4096});
    set_latent(r, c, {});
    const ExpertsSpec usual{.count = 256,
                            .used = 8,
                            .width = 2048,
                            .normalize = true,
                            .scale = 2.5f,
                            .groups = 8,
                            .groups_used = 4};
    set_sigmoid_experts(r, c, usual, after_dense(r, 3));
    c.end_id = 1;
    return r.finish(c);
}

/// Returns the config with the names of the class where it has those of its first files.
Json renamed_sarvam(const Json& root) {
    Json out = root;
    out.erase("head_dim");  // the class sets it
    for (const auto& [old, name] :
         {std::pair{"num_experts", "n_routed_experts"}, std::pair{"num_shared_experts", "n_shared_experts"}})
        if (out.contains(old) && !out.contains(name)) out[name] = out[old];
    if (const Json* scaling = json_find(out, or_null("rope_scaling")); scaling && scaling->is_object())
        for (const char* key : {"type", "rope_type"})
            if (scaling->value(key, Json()) == "deepseek_yarn") {
                out["rope_scaling"].erase("type");
                out["rope_scaling"]["rope_type"] = "yarn";
                break;
            }
    return out;
}

Result<ModelConfig> read_sarvam_mla(const Json& root, const std::string& file) {
    const Json renamed = renamed_sarvam(root);
    ConfigReader r(renamed, file);
    ModelConfig c = read_llama_like(r, {.head_dim = {or_null("head_dim"), 1},
                                        .usual_width = 4096,
                                        .usual_heads = 64,
                                        .usual_layers = 32,
                                        .usual_mlp = 16384,
                                        .usual_vocab = 262144,
                                        .usual_context = 4096});
    set_latent(r, c, {.q_rank = 0});
    const ExpertsSpec usual{.count = 128, .used = 8, .width = 2048, .normalize = true, .scale = 2.5f};
    set_sigmoid_experts(r, c, usual, after_dense(r, 1));
    c.end_id = 1;
    return r.finish(c);
}

/// Reads DeepSeek V2's experts: softmax over all, and the best of all or of the best groups.
void set_softmax_experts(ConfigReader& r, ModelConfig& c) {
    if (!r.has("num_experts_per_tok"))
        r.fail(r.file() + ": \"num_experts_per_tok\", to how many experts a token goes, is missing; add it.");
    ExpertsSpec experts{.count = expert_count(r, {"n_routed_experts", "num_experts"}, 64),
                        .used = expert_count(r, {or_null("num_experts_per_tok")}, 1),
                        .width = r.mlp_width({"moe_intermediate_size"}, 1407),
                        .scale = r.number({"routed_scaling_factor"}, 1)};
    const std::string method = r.text({"topk_method"}, "greedy");
    if (method == "group_limited_greedy") {
        experts.groups = expert_count(r, {"n_group"}, 1);
        experts.groups_used = expert_count(r, {"topk_group"}, 1);
        experts.group_top = 1;
    } else if (method != "greedy") {
        r.fail(r.file() + ": experts are chosen by " + in_quotes(method) +
               " (topk_method), which DeepSeek V2 does not know; it knows greedy and group_limited_greedy.");
    }
    const int shared = r.integer({"n_shared_experts"}, 2, 0, 1 << 10);
    set_experts(r, c, experts, shared * experts.width, after_dense(r, 0));
}

Result<ModelConfig> read_deepseek_v2(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(
        r, {.head_dim = {or_null("head_dim"), 1}, .usual_vocab = 102400, .usual_context = 2048});
    set_latent(r, c, {.pairs = LatentUsual::neighbors, .rope = {.reads_head_dim = false}});
    const bool bias = r.boolean({"mlp_bias"}, false);
    for_layers(c, [&](LayerSpec& layer, int) { layer.mlp.bias = bias; });
    set_softmax_experts(r, c);
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelConfig> read_glm4_moe_lite(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "num_key_value_heads",
                                        .usual_kv_heads = 20,
                                        .head_dim = {"head_dim", 1},
                                        .usual_width = 2048,
                                        .usual_heads = 20,
                                        .usual_layers = 47,
                                        .usual_mlp = 10240,
                                        .usual_vocab = 154880,
                                        .usual_context = 202752,
                                        .usual_norm_eps = 1e-5});
    set_latent(r, c, {.q_rank = 768, .d_own = 192, .d_value = 256, .rope = {.rotated = RopeKeys::even_part}});
    const ExpertsSpec usual{.count = 64, .used = 4, .width = 1536, .normalize = true, .scale = 1.8f};
    set_sigmoid_experts(r, c, usual, listed_sparse(r, c, from_layer(1)));
    c.end_id = 1;
    return r.finish(c);
}

Result<ModelConfig> read_axk1(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 64,
                                        .head_dim = {or_null("head_dim"), 1},
                                        .usual_width = 7168,
                                        .usual_heads = 64,
                                        .usual_layers = 61,
                                        .usual_mlp = 18432,
                                        .usual_vocab = 163840,
                                        .usual_context = 32768});
    set_latent(r, c, {.always_q_rank = true});
    const int dense = r.integer({"first_k_dense_replace"}, 1, 0, 1000),
              every = r.integer({"moe_layer_freq"}, 1, 1, 1000);
    const auto sparse = listed_sparse(r, c, [=](int l) { return l >= dense && l % every == 0; });
    const ExpertsSpec usual{.count = 192,
                            .used = 8,
                            .width = 2048,
                            .normalize = true,
                            .scale = 2.5f,
                            .groups = 8,
                            .groups_used = 4};
    set_sigmoid_experts(r, c, usual, sparse);
    for_layers(c, [](LayerSpec& layer, int) { layer.mlp_output_norm = layer.mlp.experts.has_value(); });
    c.end_id = 163691;
    return r.finish(c);
}

/// Holds the defaults of the two classes whose queries see the index_topk keys that an indexer chooses.
struct IndexedUsual {
    LlamaKeys llama;
    LatentUsual latent;
    int64_t groups, groups_used;
};

/// Reads such a model for texts of up to index_topk tokens, in which every query sees all of its keys.
Result<ModelConfig> read_indexed(const Json& root, const std::string& file, const IndexedUsual& usual) {
    Json renamed = root;
    if (json_find(root, or_null("num_experts"))) renamed["n_routed_experts"] = root["num_experts"];
    ConfigReader r(renamed, file);
    ModelConfig c = read_llama_like(r, usual.llama);
    set_latent(r, c, usual.latent);
    const ExpertsSpec experts{.count = 256,
                              .used = 8,
                              .width = 2048,
                              .normalize = true,
                              .scale = 2.5f,
                              .groups = narrow<int>(usual.groups),
                              .groups_used = narrow<int>(usual.groups_used)};
    set_sigmoid_experts(r, c, experts, listed_sparse(r, c, after_dense(r, 3)));
    c.end_id = 1;
    const int chosen = r.integer({"index_topk"}, 2048, 1, 1 << 24);
    TRY(ModelConfig out, r.finish(c));
    out.context = std::min(out.context, chosen);
    return out;
}

Result<ModelConfig> read_deepseek_v32(const Json& root, const std::string& file) {
    return read_indexed(root, file,
                        {.llama = {.kv_heads = "num_key_value_heads",
                                   .usual_kv_heads = 128,
                                   .head_dim = {"head_dim", 1},
                                   .usual_width = 7168,
                                   .usual_heads = 128,
                                   .usual_layers = 61,
                                   .usual_mlp = 18432,
                                   .usual_vocab = 129280,
                                   .usual_context = 163840},
                         .latent = {.always_q_rank = true,
                                    .pairs = LatentUsual::neighbors,
                                    .rope = {.reads_head_dim = false}},
                         .groups = 8,
                         .groups_used = 4});
}

Result<ModelConfig> read_glm_moe_dsa(const Json& root, const std::string& file) {
    return read_indexed(root, file,
                        {.llama = {.kv_heads = "num_key_value_heads",
                                   .usual_kv_heads = 64,
                                   .head_dim = {"head_dim", 1},
                                   .usual_width = 6144,
                                   .usual_heads = 64,
                                   .usual_layers = 78,
                                   .usual_mlp = 12288,
                                   .usual_vocab = 154880,
                                   .usual_context = 202752,
                                   .usual_norm_eps = 1e-5},
                         .latent = {.q_rank = 2048,
                                    .d_own = 192,
                                    .d_value = 256,
                                    .always_q_rank = true,
                                    .pairs = LatentUsual::neighbors,
                                    .rope = {.reads_head_dim = false}},
                         .groups = 1,
                         .groups_used = 1});
}

/// Returns the first of these keys that the file has, or null.
const Json& first_of(const Gguf& file, std::initializer_list<const char*> keys) {
    for (const char* key : keys)
        if (const Json& value = file.value(key); !value.is_null()) return value;
    static const Json none;
    return none;
}

/// Tells V2 from V3 by the router, as llama.cpp does, and splits the width of a head.
Status complete_deepseek(const Gguf& file, const std::string& name, Json& config) {
    constexpr int kSigmoid = 2, kMaxWidth = 1 << 13;
    const Json& router = file.value("deepseek2.expert_gating_func");
    const bool biased = std::any_of(file.tensors.begin(), file.tensors.end(), [](const auto& tensor) {
        return tensor.first.ends_with(".exp_probs_b.bias");
    });
    if (router.is_null() ? !biased : router != kSigmoid) config["model_type"] = "deepseek_v2";
    const Json& shared = file.value("deepseek2.rope.dimension_count");
    const Json& width =
        first_of(file, {"deepseek2.attention.key_length_mla", "deepseek2.attention.key_length"});
    TRY(const int64_t d_shared, whole_number(shared, "deepseek2.rope.dimension_count", 2, kMaxWidth, name));
    TRY(const int64_t d_head,
        whole_number(width, "deepseek2.attention.key_length_mla", d_shared + 1, 2 * kMaxWidth, name));
    config["head_dim"] = config["qk_rope_head_dim"] = d_shared;
    config["qk_nope_head_dim"] = d_head - d_shared;
    config["v_head_dim"] =
        first_of(file, {"deepseek2.attention.value_length_mla", "deepseek2.attention.value_length"});
    config["num_key_value_heads"] = config["num_attention_heads"];
    const Json& groups = file.value("deepseek2.expert_group_count");
    config["topk_method"] = groups.is_number() && groups > 1 ? "group_limited_greedy" : "greedy";
    if (const Json& m = file.value("deepseek2.rope.scaling.yarn_log_multiplier"); m.is_number())
        config["rope_scaling"]["mscale"] = config["rope_scaling"]["mscale_all_dim"] = m.get<double>() * 10;
    return success();
}

/// Says what llama.cpp takes where a file does not tell.
constexpr const char* kUsualDeepseek =
    R"({"norm_topk_prob": false, "first_k_dense_replace": 0, "q_lora_rank": null, "n_group": 1, "topk_group": 1,
        "routed_scaling_factor": 1})";

}  // namespace

const Family kDeepseekV2{"deepseek_v2", "DeepSeek V2", read_deepseek_v2, kLatentNames};
const Family kDeepseekV3{"deepseek_v3",
                         "DeepSeek V3",
                         read_deepseek_v3,
                         kLatentNames,
                         {"deepseek2", kUsualGgufKeys, true, complete_deepseek, kUsualDeepseek}};
const Family kDeepseekV32{"deepseek_v32", "DeepSeek V3.2", read_deepseek_v32, kLatentNames};
const Family kGlmMoeDsa{"glm_moe_dsa", "GLM-MoE-DSA", read_glm_moe_dsa, kLatentNames};
const Family kGlm4MoeLite{"glm4_moe_lite", "GLM-4-MoE-Lite", read_glm4_moe_lite, kLatentNames};
const Family kSarvamMla{"sarvam_mla", "Sarvam MLA", read_sarvam_mla, kLatentNames};
const Family kAxk1{"axk1", "A.X K1", read_axk1, kLatentNames};

}  // namespace headlight
