// Reads what GGUF files say of recurrences.
#include "base/cast.h"
#include "model/families/hybrid/hybrid.h"

namespace headlight {

namespace {

/// Holds the sizes of a mixer; inner: of the values of all heads.
struct GgufMixer {
    int64_t kernel = 0, state = 0, groups = 0, heads = 0, inner = 0;
};

Result<GgufMixer> read_gguf_mixer(const Gguf& file, const std::string& name) {
    constexpr int64_t kMaxWidth = 1 << 20;
    const std::string prefix = gguf_prefix(file);
    const auto read = [&](const char* key) {
        return whole_number(file.value(prefix + key), prefix + key, 1, kMaxWidth, name);
    };
    GgufMixer out;
    TRY(out.kernel, read("ssm.conv_kernel"));
    TRY(out.state, read("ssm.state_size"));
    TRY(out.groups, read("ssm.group_count"));
    TRY(out.heads, read("ssm.time_step_rank"));
    TRY(out.inner, read("ssm.inner_size"));
    if (out.inner % out.heads)
        return Error{name + ": " + std::to_string(out.heads) + " heads (ssm.time_step_rank) do not share " +
                     std::to_string(out.inner) + " components (ssm.inner_size); convert the model again."};
    return out;
}

}  // namespace

bool has_kernel_biases(const Gguf& file) {
    return std::any_of(file.tensors.begin(), file.tensors.end(),
                       [](const auto& tensor) { return tensor.first.ends_with(".ssm_conv1d.bias"); });
}

Status complete_delta_net(const Gguf& file, const std::string& name, Json& config) {
    TRY(const GgufMixer mixer, read_gguf_mixer(file, name));
    config["linear_conv_kernel_dim"] = mixer.kernel;
    config["linear_key_head_dim"] = mixer.state;
    config["linear_num_key_heads"] = mixer.groups;
    config["linear_num_value_heads"] = mixer.heads;
    config["linear_value_head_dim"] = mixer.inner / mixer.heads;
    if (const Json& every = file.value(gguf_prefix(file) + "full_attention_interval"); !every.is_null())
        config["full_attention_interval"] = every;
    return success();
}

Status complete_state_space(const Gguf& file, const std::string& name, const StateSpaceKeys& keys,
                            Json& config) {
    TRY(const GgufMixer mixer, read_gguf_mixer(file, name));
    config[keys.kernel] = mixer.kernel;
    config[keys.d_state] = mixer.state;
    config[keys.groups] = mixer.groups;
    config[keys.heads] = mixer.heads;
    config[keys.d_head] = mixer.inner / mixer.heads;
    if (keys.inner) config[keys.inner] = mixer.inner;
    const Json& width = config["hidden_size"];
    if (!keys.any_width && !keys.inner && width.is_number_integer() && width > 0)
        config[keys.expand] = mixer.inner / width.get<int64_t>();
    config[keys.kernel_bias] = has_kernel_biases(file);
    return success();
}

Status complete_layer_kinds(const Gguf& file, const std::string& name, const char* other, Json& config) {
    TRY(const int64_t depth, layer_count(file, name, config));
    TRY(const std::vector<int64_t> heads,
        layer_numbers(file, gguf_prefix(file) + "attention.head_count_kv", depth, name));
    Json& kinds = config["layer_types"] = Json::array();
    for (const int64_t own : heads) {
        kinds.push_back(own ? "full_attention" : other);
        if (own) config["num_key_value_heads"] = own;
    }
    return success();
}

}  // namespace headlight
