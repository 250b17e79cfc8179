// Decoders with selective state spaces: Mamba (Gu and Dao 2023) and Falcon Mamba (TII 2024), which have no
// other mixer, and Jamba (AI21 Labs 2024), some of whose layers are attention, some of whose MLPs experts.
#include "model/families/hybrid/hybrid.h"
#include "model/families/moe_like.h"

namespace headlight {

namespace {

/// Names the keys of a selective state space.
struct SelectiveKeys {
    const char *d_state = "state_size", *kernel = "conv_kernel", *expand = "expand", *rank = "time_step_rank",
               *kernel_bias = "use_conv_bias", *bias = "use_bias";
    const char* channels = "intermediate_size";  // null: expand · d_model, whatever the file says
};
constexpr SelectiveKeys kJambaKeys{.d_state = "mamba_d_state",
                                   .kernel = "mamba_d_conv",
                                   .expand = "mamba_expand",
                                   .rank = "mamba_dt_rank",
                                   .kernel_bias = "mamba_conv_bias",
                                   .bias = "mamba_proj_bias",
                                   .channels = nullptr};

AttentionSpec read_selective(ConfigReader& r, int d_model, const SelectiveKeys& keys) {
    constexpr int kMaxWidth = 1 << 14, kMaxKernel = 64, kMaxExpand = 64, kChannelsOfStep = 16;
    const int usual_rank = (d_model + kChannelsOfStep - 1) / kChannelsOfStep;
    const bool automatic = !r.has(keys.rank) || r.root()[keys.rank] == "auto";
    const RecurrenceSpec recurrence{
        .kind = RecurrenceSpec::Kind::selective,
        .kernel = r.integer({keys.kernel}, 4, 1, kMaxKernel),
        .kernel_bias = r.boolean({keys.kernel_bias}, true),
        .step_rank = automatic ? usual_rank : r.integer({keys.rank}, usual_rank, 1, kMaxWidth)};
    check_silu(r, "hidden_act");
    const int expanded = d_model * r.integer({keys.expand}, 2, 1, kMaxExpand),
              channels = keys.channels ? r.integer({keys.channels}, expanded, 1, 1 << 20) : expanded;
    AttentionSpec out = mixer_of(channels, r.integer({keys.d_state}, 16, 1, kMaxWidth), 1, recurrence,
                                 {.width = AttentionGate::Width::component, .by = AttentionGate::By::silu});
    out.bias = out.output_bias = r.boolean({keys.bias}, false);
    out.scale = 1;
    return out;
}

ModelConfig read_mamba_like(ConfigReader& r, RecurrenceSpec::Norms norms) {
    ModelConfig c = read_llama_like(r, {.usual_width = 768,
                                        .usual_heads = 1,  // of attention, which no layer has
                                        .usual_vocab = 50280,
                                        .usual_context = kNoLongestText,
                                        .usual_tied = true,
                                        .norm_eps = "layer_norm_epsilon",
                                        .usual_norm_eps = 1e-5});
    AttentionSpec mixer = read_selective(r, c.d_model, {});
    mixer.recurrence->norms = norms;
    if (norms != RecurrenceSpec::Norms::none)
        mixer.recurrence->norm_eps = float(r.positive(r.root(), "mixer_rms_eps", 1e-6));
    for_layers(c, [&](LayerSpec& layer, int) {
        layer.attention = mixer;
        layer.mlp.width = 0;
    });
    c.end_id = 0;
    return c;
}

Result<ModelConfig> read_mamba(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    return r.finish(read_mamba_like(r, RecurrenceSpec::Norms::none));
}

Result<ModelConfig> read_falcon_mamba(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    return r.finish(read_mamba_like(r, RecurrenceSpec::Norms::plain));
}

/// Reads which layers a period and an offset select.
std::function<bool(int)> every_period(ConfigReader& r, const char* period, int usual_period,
                                      const char* offset, int usual_offset) {
    const int every = r.integer({period}, usual_period, 1, 1000),
              first = r.integer({offset}, usual_offset, 0, 1000);
    if (first >= every)
        r.fail(r.file() + ": \"" + offset + "\" must be below \"" + period + "\"; correct the file.");
    return [every, first](int l) { return l % every == first; };
}

Result<ModelConfig> read_jamba(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(
        r, {.usual_kv_heads = 8, .usual_mlp = 14336, .usual_vocab = 65536, .usual_context = 262144});
    AttentionSpec mixer = read_selective(r, c.d_model, kJambaKeys);
    mixer.recurrence->norms = RecurrenceSpec::Norms::weighted;
    mixer.recurrence->norm_eps = c.norm_eps;
    const auto attends = every_period(r, "attn_layer_period", 8, "attn_layer_offset", 4),
               routes = every_period(r, "expert_layer_period", 2, "expert_layer_offset", 1);
    set_recurrences(c, read_recurrent_layers(r, c.stacks[0].depth(), [&](int l) { return !attends(l); }),
                    mixer);
    const ExpertsSpec experts{.count = expert_count(r, {"num_experts", "num_local_experts"}, 16),
                              .used = expert_count(r, {"num_experts_per_tok"}, 2),
                              .width = c.stacks[0].layers[0].mlp.width};
    if (experts.count > 1) set_experts(r, c, experts, 0, routes);
    c.end_id = 2;
    return r.finish(c);
}

constexpr TensorRow kSelectiveTensors[] = {
    {Slot::mixer_states, "layers.#.mixer.x_proj", "blk.#.ssm_x"},
    {Slot::decay, "layers.#.mixer.dt_proj", "blk.#.ssm_dt"},
};
constexpr TensorRow kJambaTensors[] = {
    {Slot::mixer_states, "layers.#.mamba.x_proj", "blk.#.ssm_x"},
    {Slot::step_norm, "layers.#.mamba.dt_layernorm", "blk.#.ssm_dt_norm"},
    {Slot::key_norm, "layers.#.mamba.b_layernorm", "blk.#.ssm_b_norm"},
    {Slot::query_norm, "layers.#.mamba.c_layernorm", "blk.#.ssm_c_norm"},
    {Slot::decay, "layers.#.mamba.dt_proj", "blk.#.ssm_dt"},
    {Slot::mlp_norm, "layers.#.pre_ff_layernorm"},
    {Slot::gate, "layers.#.feed_forward.gate_proj"},
    {Slot::up, "layers.#.feed_forward.up_proj"},
    {Slot::down, "layers.#.feed_forward.down_proj"},
    {Slot::router, "layers.#.feed_forward.router"},
    {Slot::expert_gate_up, "layers.#.feed_forward.experts.gate_up_proj", "", Stored::stacked},
    {Slot::expert_gate, "layers.#.feed_forward.experts.%.gate_proj"},
    {Slot::expert_up, "layers.#.feed_forward.experts.%.up_proj"},
    {Slot::expert_down, "layers.#.feed_forward.experts.down_proj", "", Stored::stacked},
    {Slot::expert_down, "layers.#.feed_forward.experts.%.down_proj"},
    {Slot::final_norm, "final_layernorm"},
};

/// Returns what the norms of mixers add to a mean square.
const Json& norms_eps(const Gguf& file) {
    return file.value(gguf_prefix(file) + "attention.layer_norm_rms_epsilon");
}

/// Adds a mixer's sizes under these keys.
Status complete_selective(const Gguf& file, const std::string& name, const SelectiveKeys& keys,
                          Json& config) {
    const std::string prefix = gguf_prefix(file);
    config[keys.kernel_bias] = has_kernel_biases(file);
    config[keys.kernel] = file.value(prefix + "ssm.conv_kernel");
    config[keys.d_state] = file.value(prefix + "ssm.state_size");
    config[keys.rank] = file.value(prefix + "ssm.time_step_rank");
    TRY(const int64_t inner,
        whole_number(file.value(prefix + "ssm.inner_size"), prefix + "ssm.inner_size", 1, 1 << 20, name));
    const Json& width = config["hidden_size"];
    if (!width.is_number_integer() || width <= 0 || inner % width.get<int64_t>())
        return Error{name + ": " + std::to_string(inner) +
                     " channels (ssm.inner_size) are no multiple of the width of the model; convert the " +
                     "model again."};
    config[keys.expand] = inner / width.get<int64_t>();
    return success();
}

/// Reads Mamba, or Falcon Mamba, which has its name.
Status complete_mamba(const Gguf& file, const std::string& name, Json& config) {
    for (const char* key : {"num_attention_heads", "num_key_value_heads", "intermediate_size"})
        config.erase(key);
    if (file.value(gguf_prefix(file) + "ssm.dt_b_c_rms") == true) {
        config["model_type"] = "falcon_mamba";
        config["mixer_rms_eps"] = norms_eps(file);
    }
    return complete_selective(file, name, {}, config);
}

/// Reads which layers have experts: those with a router, one in so many.
Status complete_jamba(const Gguf& file, const std::string& name, Json& config) {
    TRY_STATUS(complete_layer_kinds(file, name, "mamba", config));
    if (const Json& eps = norms_eps(file); !eps.is_null()) config["rms_norm_eps"] = eps;
    TRY(const int64_t depth, layer_count(file, name, config));
    std::vector<int64_t> sparse;
    for (int64_t l = 0; l < depth; ++l)
        if (file.tensors.contains("blk." + std::to_string(l) + ".ffn_gate_inp.weight")) sparse.push_back(l);
    if (!sparse.empty()) {
        config["expert_layer_offset"] = sparse[0];
        config["expert_layer_period"] = sparse.size() > 1 ? sparse[1] - sparse[0] : depth;
    }
    return complete_selective(file, name, kJambaKeys, config);
}

}  // namespace

const Family kMamba{"mamba",
                    "Mamba",
                    read_mamba,
                    {kMambaPrefixes, kSelectiveTensors, kMixerTensors},
                    {"mamba", kUsualGgufKeys, false, complete_mamba}};
const Family kFalconMamba{
    "falcon_mamba", "Falcon Mamba", read_falcon_mamba, {kMambaPrefixes, kSelectiveTensors, kMixerTensors}};
const Family kJamba{"jamba",
                    "Jamba",
                    read_jamba,
                    {kLlamaPrefixes, kJambaTensors, kMambaTensors, kLlamaTensors},
                    {"jamba", kUsualGgufKeys, false, complete_jamba, "{}", "", true}};

}  // namespace headlight
