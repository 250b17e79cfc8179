// Reads latent attention (DeepSeek-AI 2024), and the decoders that have it and no experts: Youtu-LLM, and
// MiniCPM3 (Hu et al. 2024), which has factors as Granite has.
#include "model/families/latent.h"

#include <algorithm>
#include <cmath>

namespace headlight {

namespace {

/// Reads q_lora_rank; null, or missing where no rank is usual: 0, none.
int read_q_rank(ConfigReader& r, const LatentUsual& usual) {
    const bool none = r.is_null("q_lora_rank") || (usual.q_rank == 0 && !r.has("q_lora_rank"));
    return none && !usual.always_q_rank ? 0 : r.integer({"q_lora_rank"}, usual.q_rank, 1, 1 << 15);
}

/// Returns the factor of scores where rotary positions are scaled: m² of m = 0.1 · mscale_all_dim · ln factor
/// + 1.
float score_factor(ConfigReader& r, const Rope& rope) {
    Json parameters = r.object("rope_scaling");
    if (parameters.empty()) parameters = r.object("rope_parameters");
    const double all = r.keep(json_number(parameters, "mscale_all_dim", 0, r.file()), 0.0);
    if (rope.scaling == RopeScaling::none || all == 0) return 1;
    if (!parameters.contains("factor"))
        r.fail(r.file() +
               ": mscale_all_dim scales scores by a \"factor\" of the rotary parameters, which is "
               "missing; add it.");
    const double factor = r.positive(parameters, "factor", 1),
                 m = factor > 1 ? 0.1 * all * std::log(factor) + 1 : 1;
    const auto squared = float(m * m);
    if (squared == 0 || !std::isfinite(squared))
        r.fail(r.file() + ": mscale_all_dim makes every score 0 or infinite; correct the rotary parameters.");
    return squared;
}

Rope read_shared_rope(ConfigReader& r, const ModelConfig& c, const Latent& latent, int d_own,
                      const LatentUsual& usual) {
    Rope rope = read_rope(r, c, latent.d_shared, usual.rope);
    rope.first = d_own;
    const bool by_key = !r.is_null("rope_interleave") && r.boolean({or_null("rope_interleave")}, true);
    rope.interleaved = usual.pairs == LatentUsual::by_key ? by_key : usual.pairs == LatentUsual::neighbors;
    if (rope.dims != latent.d_shared)
        r.fail(r.file() + ": rotary positions would turn " + std::to_string(rope.dims) + " of the " +
               std::to_string(latent.d_shared) +
               " components that heads share (qk_rope_head_dim), which latent attention cannot do; correct "
               "partial_rotary_factor.");
    return rope;
}

}  // namespace

void set_latent(ConfigReader& r, ModelConfig& c, const LatentUsual& usual) {
    constexpr int kMaxRank = 1 << 15, kMaxWidth = 1 << 13;
    Latent latent;
    latent.q_rank = read_q_rank(r, usual);
    latent.kv_rank = r.integer({"kv_lora_rank"}, usual.kv_rank, 1, kMaxRank);
    latent.d_shared = r.integer({"qk_rope_head_dim"}, usual.d_shared, 2, kMaxWidth);
    latent.bias = r.boolean({"attention_bias"}, false);
    AttentionSpec attention = c.stacks[0].layers[0].attention;
    const int d_own = r.integer({"qk_nope_head_dim"}, usual.d_own, 1, kMaxWidth);
    attention.d_head = d_own + latent.d_shared;
    const JsonKey value = usual.null_d_value ? or_null("v_head_dim") : JsonKey("v_head_dim");
    attention.d_value = r.integer({value}, usual.d_value, 1, kMaxWidth);
    attention.output_bias = latent.bias;
    attention.rope = read_shared_rope(r, c, latent, d_own, usual);
    attention.scale = attention.score_scale() * score_factor(r, attention.rope);
    attention.latent = latent;
    if (attention.kv_heads != attention.heads)
        r.fail(r.file() + ": latent attention makes keys and values for each of its " +
               std::to_string(attention.heads) + " heads, but \"num_key_value_heads\" is " +
               std::to_string(attention.kv_heads) + "; correct the file.");
    for_layers(c, [&](LayerSpec& layer, int) { layer.attention = attention; });
}

namespace {

Result<ModelConfig> read_youtu(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "num_key_value_heads",
                                        .usual_kv_heads = 16,
                                        .head_dim = {or_null("head_dim"), 1},
                                        .usual_width = 2048,
                                        .usual_heads = 16,
                                        .usual_layers = 32,
                                        .usual_mlp = 6144,
                                        .usual_vocab = 128256,
                                        .usual_context = 131072,
                                        .usual_tied = true});
    set_latent(r, c, {});
    c.end_id = 128001;
    return r.finish(c);
}

Result<ModelConfig> read_minicpm3(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 40,
                                        .head_dim = {or_null("head_dim"), 1},
                                        .usual_width = 2560,
                                        .usual_heads = 40,
                                        .usual_layers = 62,
                                        .usual_mlp = 6400,
                                        .usual_vocab = 73448,
                                        .usual_context = 32768,
                                        .usual_tied = true,
                                        .usual_norm_eps = 1e-5});
    const int depth = c.stacks[0].depth();
    const bool values = r.has("v_head_dim");
    set_latent(r, c,
               {.q_rank = 768,
                .kv_rank = 256,
                .d_own = 64,
                .d_shared = 32,
                .d_value = std::max(1, c.d_model / c.stacks[0].layers[0].attention.heads),
                .null_d_value = true,
                .pairs = LatentUsual::halves,
                .rope = {.reads_head_dim = false}});
    if (!values && c.d_model % c.stacks[0].layers[0].attention.heads)
        r.fail(file + ": its heads do not divide the width; correct them, or add v_head_dim.");
    const bool mlp_bias = r.boolean({"mlp_bias"}, false);
    const float residual =
        r.is_null("scale_depth") ? 1.0f : r.number({"scale_depth"}, 1.4) / std::sqrt(float(depth));
    for_layers(c, [&](LayerSpec& layer, int) {
        layer.mlp.bias = mlp_bias;
        layer.residual_scale = residual;
    });
    c.embed_scale = r.number({"scale_emb"}, 12);
    if (!r.is_null("dim_model_base"))
        c.logit_scale = float(r.positive(root, "dim_model_base", 256) / c.d_model);
    c.end_id = 2;
    return r.finish(c);
}

}  // namespace

const Family kYoutu{"youtu", "Youtu-LLM", read_youtu, kLatentNames};
const Family kMinicpm3{"minicpm3", "MiniCPM3", read_minicpm3, kLatentNames};

}  // namespace headlight
