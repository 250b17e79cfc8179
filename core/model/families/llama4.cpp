// Llama 4 (Meta 2025): rotated layers see their own chunk of the text, others see all of it with queries that
// grow by position; norms of q and k after the rotation, without weights; experts that read their token times
// its weight, and one that all tokens share.
#include "model/families/moe_like.h"

namespace headlight {

namespace {

/// Gives each layer its mask by layer_types; without it, rotated layers see their own chunk.
void set_chunks(ConfigReader& r, ModelConfig& c, const std::vector<bool>& rotated) {
    const int chunk =
        r.is_null("attention_chunk_size") ? 0 : r.integer({"attention_chunk_size"}, 8192, 1, 1 << 24);
    const bool listed = r.has("layer_types");
    const Json list = r.keep(json_list(r.root(), or_null("layer_types"), r.file()), Json(Json::array()));
    bool right = !listed || isize(list) == c.stacks[0].depth();
    for (const Json& kind : list) right = right && (kind == "chunked_attention" || kind == "full_attention");
    if (!right) {
        r.fail(r.file() + ": \"layer_types\" must call each of the " + std::to_string(c.stacks[0].depth()) +
               " layers \"chunked_attention\" or \"full_attention\"; correct the file.");
        return;
    }
    for_layers(c, [&](LayerSpec& layer, int l) {
        const bool own_chunk = listed ? list[l] == "chunked_attention" : rotated[size_t(l)];
        if (own_chunk) layer.attention.chunk = chunk;
    });
}

/// Says which layers have experts: moe_layers, or every interleave_moe_layer_step-th.
std::function<bool(int)> sparse_layers(ConfigReader& r) {
    const int step = r.integer({"interleave_moe_layer_step"}, 1, 1, 1000);
    if (!r.has("moe_layers")) return [step](int l) { return (l + 1) % step == 0; };
    std::vector<int> sparse;
    const Json list = r.keep(json_list(r.root(), "moe_layers", r.file()), Json(Json::array()));
    for (const Json& layer : list) sparse.push_back(layer.is_number_integer() ? layer.get<int>() : -1);
    return [sparse](int l) { return contains(sparse, l); };
}

void set_llama4_experts(ConfigReader& r, ModelConfig& c) {
    const int width = c.stacks[0].layers[0].mlp.width, dense = r.mlp_width({"intermediate_size_mlp"}, 16384);
    const ExpertsSpec experts{.count = expert_count(r, {"num_local_experts"}, 16),
                              .used = expert_count(r, {"num_experts_per_tok"}, 1),
                              .width = width,
                              .routing = Routing::sigmoid,
                              .by_scores = true,
                              .weighs_input = true};
    for_layers(c, [dense](LayerSpec& layer, int) { layer.mlp.width = dense; });
    set_experts(r, c, experts, width, sparse_layers(r));
}

Result<ModelConfig> read_llama4_text(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 8,
                                        .head_dim = {or_null("head_dim"), 128},
                                        .usual_width = 5120,
                                        .usual_heads = 40,
                                        .usual_layers = 48,
                                        .usual_mlp = 8192,
                                        .usual_vocab = 202048,
                                        .usual_context = 4096 * 32,
                                        .usual_norm_eps = 1e-5});
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    const std::vector<bool> rotated = rotated_layers(r, c.stacks[0].depth());
    set_chunks(r, c, rotated);
    set_llama4_experts(r, c);
    set_rope(r, c, {.usual_theta = 500000, .reads_layer_types = true});
    const bool norms = r.boolean({"use_qk_norm"}, true), grows = r.boolean({"attn_temperature_tuning"}, true);
    const float growth = r.number({"attn_scale"}, 0.1);
    const int every = r.integer({"floor_scale"}, 8192, 1, 1 << 24);
    for_layers(c, [&](LayerSpec& layer, int l) {
        AttentionSpec& a = layer.attention;
        a.rope.interleaved = true;
        a.norm_rotated = true;
        if (rotated[size_t(l)]) {
            if (norms) a.qk_norm = QkNorm::unweighted;
            return;
        }
        a.rope = {};
        if (grows) a.query_growth = growth;
        a.growth_every = every;
        a.growth_from = 1;
    });
    c.end_id = 2;
    return r.finish(c);
}

/// Reads the text part of a model that also reads images.
Result<ModelConfig> read_llama4(const Json& root, const std::string& file) {
    TRY(const Json text, json_object(root, or_null("text_config"), file));
    return read_llama4_text(text, file);
}

constexpr TensorRow kLlama4Tensors[] = {
    {Slot::router, "layers.#.feed_forward.router"},
    {Slot::expert_gate_up, "layers.#.feed_forward.experts.gate_up_proj", "", Stored::stacked_in_out},
    {Slot::expert_down, "layers.#.feed_forward.experts.down_proj", "", Stored::stacked_in_out},
    {Slot::gate, "layers.#.feed_forward.gate_proj"},
    {Slot::gate, "layers.#.feed_forward.shared_expert.gate_proj"},
    {Slot::up, "layers.#.feed_forward.up_proj"},
    {Slot::up, "layers.#.feed_forward.shared_expert.up_proj"},
    {Slot::down, "layers.#.feed_forward.down_proj"},
    {Slot::down, "layers.#.feed_forward.shared_expert.down_proj"},
};
constexpr const char* kLlama4Prefixes[] = {"language_model.model.", "model.language_model.",
                                           "language_model.", "model.", ""};

/// Names the widths of both kinds of MLP; the model of 128 experts norms no q and k, as llama.cpp knows.
Status complete_llama4(const Gguf& file, const std::string&, Json& config) {
    config["intermediate_size_mlp"] = config["intermediate_size"];
    config["intermediate_size"] = config["moe_intermediate_size"];
    config["use_qk_norm"] = file.value("llama4.expert_count") != 128;
    if (file.value("llama4.attention.sliding_window") != 0) return success();
    config["attention_chunk_size"] = nullptr;  // every layer rotates and sees all tokens
    config["no_rope_layer_interval"] = 1000;
    return success();
}

}  // namespace

const Family kLlama4Text{"llama4_text",
                         "Llama 4",
                         read_llama4_text,
                         {kLlamaPrefixes, kLlama4Tensors, kLlamaTensors},
                         {"llama4", kUsualGgufKeys, true, complete_llama4}};
const Family kLlama4{
    "llama4", "Llama 4 (text part)", read_llama4, {kLlama4Prefixes, kLlama4Tensors, kLlamaTensors}};

}  // namespace headlight
