// Gemma 3n (Google 2025), its text part: Gemma 3's layers with norms by plain weights and scores without a
// scale, of which the last read the keys and values of earlier ones. Four streams run through them (AltUp), a
// product of low rank stands beside attention (LAuReL), the first layers cut most of their MLP's gate to 0,
// and each layer reads a vector of its own of every token.
#include <cmath>

#include "base/cast.h"
#include "base/quoted.h"
#include "model/families/gemma/shared_keys.h"

namespace headlight {

namespace {

/// Reads a list of one number for each layer, all within [low, high); empty if it is missing or null.
std::vector<double> numbers_of_layers(ConfigReader& r, const char* key, int layers, double low, double high) {
    std::vector<double> out;
    const Json* list = json_find(r.root(), or_null(key));
    if (!list) return out;
    for (const Json& value : list->is_array() ? *list : Json::array())
        if (value.is_number() && value >= low && value < high) out.push_back(value.get<double>());
    if (list->is_array() && isize(out) == isize(*list) && isize(out) == layers) return out;
    r.fail(r.file() + ": " + in_quotes(key) + " must give each of the " + std::to_string(layers) +
           " layers a number within its bounds; correct the list.");
    return {};
}

/// Reads the widths of MLPs, and what share of their gate is cut to 0: of the first layers 0.95, if there are
/// more.
void read_mlps(ConfigReader& r, const Json& root, ModelConfig& c) {
    constexpr int kSparse = 10;
    constexpr double kWidest = 1 << 20;
    const int depth = c.stacks[0].depth();
    const Json* widths = json_find(root, "intermediate_size");
    ConfigReader listed(root, r.file());
    const auto of_layers = widths && widths->is_array()
                               ? numbers_of_layers(listed, "intermediate_size", depth, 1, kWidest)
                               : std::vector<double>();
    r.keep(listed.finish(c), c);
    const auto cut = numbers_of_layers(r, "activation_sparsity_pattern", depth, 0, 1);
    const bool usual = !r.has("activation_sparsity_pattern") && depth > kSparse;
    for_layers(c, [&](LayerSpec& layer, int l) {
        if (!of_layers.empty()) layer.mlp.width = int(of_layers[size_t(l)]);
        layer.mlp.sparsity = !cut.empty() ? float(cut[size_t(l)]) : usual && l < kSparse ? 0.95f : 0;
    });
}

/// Reads the streams, and the vectors of layers that are added to all but the first.
void read_streams(ConfigReader& r, ModelConfig& c) {
    StreamsSpec streams{r.integer({"altup_num_inputs"}, 4, 1, 64), 0,
                        r.boolean({"altup_correct_scale"}, true)};
    streams.active = r.integer({"altup_active_idx"}, 0, 0, streams.count - 1);
    c.stacks[0].streams = streams;
    const LayerEmbeddingSpec embedding{r.integer({"hidden_size_per_layer_input"}, 256, 1, 1 << 14),
                                       r.vocabulary(262144, {"vocab_size_per_layer_input"}),
                                       c.stacks[0].layers[0].mlp.activation};
    const int rank = r.integer({"laurel_rank"}, 64, 1, 1 << 14);
    for_layers(c, [&](LayerSpec& layer, int) {
        layer.embedding = embedding;
        layer.laurel_rank = rank;
    });
}

/// Returns the file with one width of MLPs, where it may list one for each layer.
Json with_one_width(const Json& root) {
    Json out = root;
    if (const Json* widths = json_find(root, "intermediate_size"); widths && widths->is_array())
        out["intermediate_size"] = widths->empty() ? Json(1) : (*widths)[0];
    return out;
}

Result<ModelConfig> read_gemma3n_text(const Json& root, const std::string& file) {
    const Json plain = with_one_width(root);
    ConfigReader r(plain, file);
    ModelConfig c = read_llama_like(r, {"num_key_value_heads",
                                        2,
                                        {"head_dim", 256},
                                        "hidden_activation",
                                        "gelu_pytorch_tanh",
                                        2048,
                                        8,
                                        35,
                                        16384,
                                        262400,
                                        32768,
                                        true});
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    c.embed_scale = std::sqrt(float(c.d_model));
    c.end_id = 1;
    c.logit_cap = r.cap("final_logit_softcapping", 30);
    r.windows(c.stacks[0], r.integer({"sliding_window"}, 512, 1, 1 << 24),
              [](int layer) { return (layer + 1) % 5 != 0; });
    const int d_head = c.stacks[0].layers[0].attention.d_head;
    const Rope global = read_rope_of_kind(r, c, d_head, "full_attention", {.usual_theta = 1e6}, true),
               local = read_rope_of_kind(r, c, d_head, "sliding_attention", {.theta = "rope_local_base_freq"},
                                         false);
    for_layers(c, [&](LayerSpec& layer, int) {
        layer.norms = NormPlace::both;
        layer.attention.scale = 1;
        layer.attention.qk_norm = QkNorm::per_head;
        layer.attention.value_norm = true;
        layer.attention.rope = is_full(layer) ? global : local;
    });
    share_last_keys(r, c, 15);
    read_mlps(r, root, c);
    read_streams(r, c);
    return r.finish(c);
}

/// Reads the text part of a model that also sees and hears.
Result<ModelConfig> read_gemma3n(const Json& root, const std::string& file) {
    TRY(Json text, json_object(root, "text_config", file));
    TRY(text["tie_word_embeddings"], json_boolean(root, "tie_word_embeddings", true, file));
    return read_gemma3n_text(text, file);
}

constexpr const char* kGemma3nPrefixes[] = {"model.language_model.", "language_model.model.",
                                            "language_model.", "model.", ""};
constexpr TensorRow kGemma3nTensors[] = {
    {Slot::attn_post_norm, "layers.#.post_attention_layernorm"},
    {Slot::v_norm, ""},
    {Slot::mlp_norm, "layers.#.pre_feedforward_layernorm"},
    {Slot::mlp_post_norm, "layers.#.post_feedforward_layernorm"},
    {Slot::layer_table, "embed_tokens_per_layer", "per_layer_token_embd"},
    {Slot::layer_project, "per_layer_model_projection", "per_layer_model_proj"},
    {Slot::layer_project_norm, "per_layer_projection_norm", "per_layer_proj_norm"},
    {Slot::layer_embed_gate, "layers.#.per_layer_input_gate", "blk.#.inp_gate"},
    {Slot::layer_embed_out, "layers.#.per_layer_projection", "blk.#.proj"},
    {Slot::layer_embed_norm, "layers.#.post_per_layer_input_norm", "blk.#.post_norm"},
    {Slot::streams_enter, "altup_projections", "altup_proj", Stored::each_square},
    {Slot::streams_leave, "altup_unembed_projections", "altup_unembd_proj", Stored::each_square},
    {Slot::streams_norm, "layers.#.altup.router_norm", "blk.#.altup_router_norm"},
    {Slot::streams_router, "layers.#.altup.modality_router", "blk.#.altup_router"},
    {Slot::streams_predict, "layers.#.altup.prediction_coefs", "blk.#.altup_predict_coef"},
    {Slot::streams_correct, "layers.#.altup.correction_coefs", "blk.#.altup_correct_coef"},
    {Slot::streams_scale, "layers.#.altup.correct_output_scale", "blk.#.altup_correct_scale.weight"},
    {Slot::laurel_down, "layers.#.laurel.linear_left", "blk.#.laurel_l"},
    {Slot::laurel_up, "layers.#.laurel.linear_right", "blk.#.laurel_r"},
    {Slot::laurel_norm, "layers.#.laurel.post_laurel_norm", "blk.#.laurel_post_norm"},
};

/// Returns the rows of a tensor; null: it is missing or has none.
Json stored_rows(const Gguf& file, const std::string& tensor) {
    const auto found = file.tensors.find(tensor);
    return found == file.tensors.end() || found->second.shape.empty() ? Json()
                                                                      : Json(found->second.shape.front());
}

/// Returns the share of values below each of these points of the normal distribution: the file stores the
/// points, −∞ where nothing is cut.
Result<Json> shares_below(const Json& points, const std::string& key, const std::string& name) {
    Json out = Json::array();
    for (const Json& z : points.is_array() ? points : Json::array()) {
        if (!z.is_number())
            return Error{name + ": " + key +
                         " must hold numbers; convert the model with a current converter."};
        out.push_back(std::erfc(-z.get<double>() * M_SQRT1_2) / 2);
    }
    return out;
}

/// Reads what only Gemma 3n has.
Status complete_gemma3n(const Gguf& file, const std::string& name, Json& config) {
    const std::string prefix = gguf_prefix(file), sparsity = prefix + "activation_sparsity_scale";
    TRY(const int64_t depth, layer_count(file, name, config));
    TRY(config["intermediate_size"], layer_numbers(file, prefix + "feed_forward_length", depth, name));
    if (const Json& points = file.value(sparsity); !points.is_null()) {
        TRY(config["activation_sparsity_pattern"], shares_below(points, sparsity, name));
    }
    for (const auto& [ours, theirs] : {std::pair{"altup_num_inputs", "altup.num_inputs"},
                                       {"altup_active_idx", "altup.active_idx"},
                                       {"num_kv_shared_layers", "attention.shared_kv_layers"},
                                       {"hidden_size_per_layer_input", "embedding_length_per_layer_input"}})
        if (const Json& value = file.value(prefix + theirs); !value.is_null()) config[ours] = value;
    config["vocab_size_per_layer_input"] = stored_rows(file, "per_layer_token_embd.weight");
    config["laurel_rank"] = stored_rows(file, "blk.0.laurel_l.weight");
    for (const char* key : {"vocab_size_per_layer_input", "laurel_rank"})
        if (config[key].is_null()) config.erase(key);  // the missing tensor is the error
    return success();
}

}  // namespace

const Family kGemma3nText{"gemma3n_text",
                          "Gemma 3n",
                          read_gemma3n_text,
                          {kGemma3nPrefixes, kGemma3nTensors, kLlamaTensors},
                          {"gemma3n", kUsualGgufKeys, false, complete_gemma3n, "{}", "", true}};
const Family kGemma3n{
    "gemma3n", "Gemma 3n (text part)", read_gemma3n, {kGemma3nPrefixes, kGemma3nTensors, kLlamaTensors}};

}  // namespace headlight
