// Falcon-H1 (TII 2025): in each layer attention and a Mamba-2 mixer read the same normed rows, and both are
// added to the stream. Factors multiply the embeddings, what each block reads, makes and adds, and the
// logits.
#include <cmath>

#include "model/families/hybrid/hybrid.h"

namespace headlight {

namespace {

constexpr StateSpaceKeys kFalconKeys{.inner = "mamba_d_ssm", .usual_inner = 1024};

/// Reads as many factors as there are places; without the list all are 1.
void read_factors(ConfigReader& r, const char* key, std::initializer_list<float*> places) {
    if (!r.has(key)) return;
    const Json list = r.keep(json_list(r.root(), key, r.file()), Json(Json::array()));
    size_t i = 0;
    for (float* place : places) {
        const Json value = i < list.size() ? list[i] : Json();
        if (list.size() != places.size() || !value.is_number() || !std::isfinite(value.get<float>()))
            return r.fail(r.file() + ": \"" + key + "\" must list " + std::to_string(places.size()) +
                          " finite numbers; correct the file.");
        *place = value.get<float>();
        ++i;
    }
}

/// Reads the mixer, whose output has a bias of its own key, and which is normed if the file says so.
AttentionSpec read_falcon_mixer(ConfigReader& r, const ModelConfig& c) {
    AttentionSpec out = read_state_space(r, c.d_model, kFalconKeys);
    out.output_bias = r.boolean({or_null("projectors_bias")}, false);
    if (!r.boolean({or_null("mamba_rms_norm")}, false)) out.gate.norms = 0;
    out.gate.norm_after = !r.boolean({or_null("mamba_norm_before_gate")}, true);
    Multipliers& times = out.times;
    times.input = r.number({"ssm_in_multiplier"}, 1);
    times.output = r.number({"ssm_out_multiplier"}, 1);
    read_factors(r, "ssm_multipliers", {&times.gate, &times.value, &times.key, &times.query, &times.step});
    return out;
}

Result<ModelConfig> read_falcon_h1(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 8,
                                        .usual_mlp = 14336,
                                        .usual_vocab = 128000,
                                        .usual_context = 8192,
                                        .usual_norm_eps = 1e-5});
    read_biases(r, c);
    set_rope(r, c);
    const AttentionSpec mixer = read_falcon_mixer(r, c);
    LayerSpec& usual = c.stacks[0].layers[0];
    usual.attention.times.input = r.number({"attention_in_multiplier"}, 1);
    usual.attention.times.key = r.number({"key_multiplier"}, 1);
    usual.attention.times.output = r.number({"attention_out_multiplier"}, 1);
    read_factors(r, "mlp_multipliers", {&usual.mlp.gate_times, &usual.mlp.output_times});
    for_layers(c, [&](LayerSpec& layer, int) {
        layer = usual;
        layer.second = mixer;
    });
    c.embed_scale = r.number({"embedding_multiplier"}, 1);
    c.logit_scale = r.number({"lm_head_multiplier"}, 1);
    c.end_id = 2;
    return r.finish(c);
}

constexpr TensorRow kFalconH1Tensors[] = {
    {Slot::o, "layers.#.self_attn.o_proj", "blk.#.attn_output"},
    {Slot::mlp_norm, "layers.#.pre_ff_layernorm"},
    {Slot::gate, "layers.#.feed_forward.gate_proj"},
    {Slot::up, "layers.#.feed_forward.up_proj"},
    {Slot::down, "layers.#.feed_forward.down_proj"},
    {Slot::final_norm, "final_layernorm"},
};
constexpr TensorRow kBesideTensors[] = {{Slot::o, "layers.#.mamba.out_proj", "blk.#.ssm_out"}};

/// Reads the mixer's sizes; the converter has put all factors into the matrices.
Status complete_falcon_h1(const Gguf& file, const std::string& name, Json& config) {
    TRY_STATUS(complete_state_space(file, name, kFalconKeys, config));
    config["mamba_rms_norm"] = file.tensors.contains("blk.0.ssm_norm.weight");
    config["mamba_norm_before_gate"] = false;  // as llama.cpp computes it
    return success();
}

}  // namespace

const Family kFalconH1{"falcon_h1",
                       "Falcon-H1",
                       read_falcon_h1,
                       {kLlamaPrefixes, kFalconH1Tensors, kMambaTensors, kLlamaTensors, kBesideTensors},
                       {"falcon-h1", kUsualGgufKeys, false, complete_falcon_h1}};

}  // namespace headlight
