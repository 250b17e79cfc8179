// Reads recurrences.
#include "model/families/hybrid/hybrid.h"

#include "base/cast.h"

namespace headlight {

std::vector<bool> read_recurrent_layers(ConfigReader& r, int depth, const std::function<bool(int)>& usual) {
    std::vector<bool> out;
    const char* key = r.has("layer_types") ? "layer_types" : "layers_block_type";
    if (!r.has(key)) {
        for (int l = 0; l < depth; ++l) out.push_back(usual(l));
        return out;
    }
    const Json list = r.keep(json_list(r.root(), key, r.file()), Json(Json::array()));
    for (const Json& kind : list) {
        const bool recurrent = kind == "linear_attention" || kind == "mamba" || kind == "conv";
        if (!recurrent && kind != "full_attention" && kind != "attention") break;
        out.push_back(recurrent);
    }
    if (isize(out) == depth && isize(list) == depth) return out;
    r.fail(r.file() + ": \"" + key + "\" must call each of the " + std::to_string(depth) +
           " layers \"linear_attention\" or \"full_attention\"; correct the file.");
    return std::vector<bool>(size_t(depth), false);
}

void set_recurrences(ModelConfig& c, const std::vector<bool>& recurrent, const AttentionSpec& mixer) {
    for_layers(c, [&](LayerSpec& layer, int l) {
        if (recurrent[size_t(l)]) layer.attention = mixer;
    });
}

AttentionSpec mixer_of(int heads, int d_key, int d_value, const RecurrenceSpec& recurrence,
                       const AttentionGate& gate) {
    AttentionSpec out;
    out.heads = out.kv_heads = heads;
    out.d_head = d_key;
    out.d_value = d_value;
    out.bias = out.output_bias = false;
    out.recurrence = recurrence;
    out.gate = gate;
    return out;
}

void check_silu(ConfigReader& r, const char* key) {
    if (r.activation({key}, "silu") != Activation::silu)
        r.fail(r.file() + ": a recurrence whose activation is not SiLU is not computed; use one of SiLU.");
}

namespace {

/// Fails unless heads share the heads of q and k evenly.
void check_shared(ConfigReader& r, int heads, int key_heads) {
    if (heads % key_heads)
        r.fail(r.file() + ": " + std::to_string(heads) + " heads cannot share " + std::to_string(key_heads) +
               " of keys; correct the numbers of heads.");
}

constexpr int kMaxWidth = 1 << 14, kMaxKernel = 64;

/// Reads the least and the largest step.
void read_step_limits(ConfigReader& r, RecurrenceSpec& recurrence) {
    if (!r.has("time_step_limit")) return;
    const Json limits = r.keep(json_list(r.root(), "time_step_limit", r.file()), Json(Json::array()));
    const auto limit = [&](size_t i, float none) {
        return limits.size() == 2 && limits[i].is_number() ? limits[i].get<float>() : none;
    };
    recurrence.least_step = limit(0, 0);
    recurrence.largest_step = limit(1, recurrence.largest_step);
    if (limits.size() != 2 || !(recurrence.least_step <= recurrence.largest_step))
        r.fail(r.file() +
               ": \"time_step_limit\" must give the least and the largest step; correct the file.");
}

}  // namespace

AttentionSpec read_delta_net(ConfigReader& r, const DeltaNetKeys& usual) {
    const RecurrenceSpec recurrence{
        .kind = RecurrenceSpec::Kind::delta_rule,
        .key_heads = r.integer({or_null("linear_num_key_heads")}, usual.key_heads, 1, kMaxWidth),
        .kernel = r.integer({"linear_conv_kernel_dim"}, 4, 1, kMaxKernel),
        .strength = usual.strength};
    const int heads = r.integer({or_null("linear_num_value_heads")}, usual.value_heads, 1, kMaxWidth),
              d_key = r.integer({or_null("linear_key_head_dim")}, usual.d_key, 1, kMaxWidth),
              d_value = r.integer({or_null("linear_value_head_dim")},
                                  usual.d_value ? usual.d_value : 2 * d_key, 1, kMaxWidth);
    check_silu(r, "hidden_act");
    check_shared(r, heads, recurrence.key_heads);
    return mixer_of(heads, d_key, d_value, recurrence,
                    {.width = AttentionGate::Width::component,
                     .by = AttentionGate::By::silu,
                     .norms = heads,
                     .norm_shared = true,
                     .norm_eps = usual.norm_eps});
}

AttentionSpec read_state_space(ConfigReader& r, int d_model, const StateSpaceKeys& keys) {
    RecurrenceSpec recurrence{.kind = RecurrenceSpec::Kind::state_space,
                              .key_heads = r.integer({or_null(keys.groups)}, keys.usual_groups, 1, kMaxWidth),
                              .kernel = r.integer({or_null(keys.kernel)}, 4, 1, kMaxKernel),
                              .kernel_bias = r.boolean({or_null(keys.kernel_bias)}, true)};
    const int heads = r.integer({or_null(keys.heads)}, keys.usual_heads, 1, kMaxWidth),
              expand = r.integer({or_null(keys.expand)}, 2, 1, 64);
    const bool own_width = keys.inner && !r.is_null(keys.inner);
    const int64_t inner =
        own_width ? r.integer({keys.inner}, keys.usual_inner, 1, 1 << 20) : int64_t{expand} * d_model;
    const bool automatic = !r.has(keys.d_head) || r.root()[keys.d_head] == "auto";
    const int usual_head =
                  keys.usual_head ? keys.usual_head : narrow<int>(std::max<int64_t>(1, inner / heads)),
              d_value = automatic ? usual_head : r.integer({keys.d_head}, usual_head, 1, kMaxWidth);
    if (!keys.any_width && heads * int64_t{d_value} != inner)
        r.fail(
            r.file() + ": " + std::to_string(heads) + " heads of " + std::to_string(d_value) +
            " components do not make " +
            (own_width ? std::to_string(inner) : std::to_string(expand) + " times the width of the model") +
            "; correct the sizes of the state space.");
    read_step_limits(r, recurrence);
    check_silu(r, keys.activation);
    check_shared(r, heads, recurrence.key_heads);
    AttentionSpec out = mixer_of(heads, r.integer({or_null(keys.d_state)}, keys.usual_state, 1, kMaxWidth),
                                 d_value, recurrence,
                                 {.width = AttentionGate::Width::component,
                                  .by = AttentionGate::By::silu,
                                  .norms = recurrence.key_heads,
                                  .norm_after = true});
    out.bias = out.output_bias = r.boolean({or_null(keys.bias)}, false);
    out.scale = 1;
    return out;
}

}  // namespace headlight
