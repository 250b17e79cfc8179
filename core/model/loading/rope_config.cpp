// Reads rotary positions as transformers does (ROPE_INIT_FUNCTIONS in modeling_rope_utils.py).
#include "model/loading/rope_config.h"

#include <algorithm>
#include <cmath>

#include "base/quoted.h"

namespace headlight {

namespace {

constexpr const char* kOriginal = "original_max_position_embeddings";

RopeScaling scaling_of(ConfigReader& r, const Json& parameters) {
    constexpr std::pair<const char*, RopeScaling> kinds[] = {{"default", RopeScaling::none},
                                                             {"linear", RopeScaling::linear},
                                                             {"dynamic", RopeScaling::dynamic},
                                                             {"llama3", RopeScaling::llama3},
                                                             {"yarn", RopeScaling::yarn}};
    const auto type = r.keep(json_string(parameters, "rope_type", "default", r.file()), std::string());
    for (const auto& [name, scaling] : kinds)
        if (type == name) return scaling;
    r.fail(r.file() + ": the rotary scaling " + in_quotes(type) +
           " is not one that Headlight computes; it knows default, linear, dynamic, llama3 and yarn.");
    return RopeScaling::none;
}

/// Reads a number that a scaling requires.
double required(ConfigReader& r, const Json& parameters, const char* key) {
    if (!parameters.contains(key))
        r.fail(r.file() + ": the rotary scaling " + in_quotes(parameters.value("rope_type", "")) +
               " needs a \"" + key + "\"; add it to the rotary parameters.");
    return r.positive(parameters, key, 1);
}

/// Reads a number whose class treats null and 0 as missing.
double unless_zero(ConfigReader& r, const Json& parameters, const char* key, double usual) {
    const double value = r.keep(json_number(parameters, or_null(key), usual, r.file()), usual);
    return value == 0 ? usual : r.positive(parameters, or_null(key), usual);
}

void read_yarn(ConfigReader& r, const ModelConfig& c, const Json& parameters, Rope& rope) {
    if (json_find(parameters, "factor") && parameters["factor"].is_null())
        rope.factor = double(c.context) / rope.original_context;
    else
        rope.factor = required(r, parameters, "factor");
    rope.beta_fast = unless_zero(r, parameters, "beta_fast", 32);
    rope.beta_slow = unless_zero(r, parameters, "beta_slow", 1);
    const bool usual_truncate = !parameters.contains("truncate");  // null means false
    rope.truncate = r.keep(json_boolean(parameters, or_null("truncate"), usual_truncate, r.file()), true);
    const auto magnitude = [&](double m) {
        return rope.factor <= 1 ? 1.0 : 0.1 * m * std::log(rope.factor) + 1;
    };
    const double mscale = unless_zero(r, parameters, "mscale", 0),
                 all = unless_zero(r, parameters, "mscale_all_dim", 0),
                 usual = mscale > 0 && all > 0 ? magnitude(mscale) / magnitude(all) : magnitude(1);
    rope.attention_factor =
        r.keep(json_number(parameters, or_null("attention_factor"), usual, r.file()), usual);
    if (rope.theta == 1) r.fail(r.file() + ": YaRN needs a rope_theta other than 1; correct the file.");
}

void read_scaling(ConfigReader& r, const ModelConfig& c, const Json& parameters, Rope& rope) {
    if (rope.scaling == RopeScaling::none) return;
    if (rope.scaling == RopeScaling::llama3 || rope.scaling == RopeScaling::yarn) {
        const double original =
            json_find(parameters, kOriginal) ? r.positive(parameters, kOriginal, 1) : double(c.context);
        rope.original_context = int(std::clamp(original, 1.0, double(1 << 24)));
        if (rope.original_context != original)
            r.fail(wrong_type(r.file(), kOriginal, "a whole number up to 16777216", parameters[kOriginal])
                       .message);
    }
    if (rope.scaling == RopeScaling::yarn) return read_yarn(r, c, parameters, rope);
    rope.factor = required(r, parameters, "factor");
    if (rope.scaling != RopeScaling::llama3) return;
    rope.low_frequency = required(r, parameters, "low_freq_factor");
    rope.high_frequency = required(r, parameters, "high_freq_factor");
}

/// Converts the number of dimensions that a class computes per head: of an odd number the next one is rotated
/// too, with the frequencies of the odd number. Returns false if transformers cannot compute it either.
bool count_dims(Rope& rope, double count, int d_head, RopeKeys::Rotated rotated) {
    if (!(count > -1 && count <= d_head)) return false;
    const int counted = int(count), rotated_dims = counted + counted % 2;
    rope.dims = rotated_dims;
    rope.odd = counted % 2 == 1;
    if (rope.scaling == RopeScaling::yarn && rope.odd) {
        if (counted > 3) return false;
        if (counted == 1) rope.dims = 0;
    }
    if (rope.scaling == RopeScaling::dynamic && counted == 2) return false;
    switch (rotated) {
        case RopeKeys::whole_head:
            return rope.dims == d_head;
        case RopeKeys::even_part:
            return !rope.odd;
        case RopeKeys::any_part:
            return rope.dims <= d_head;
    }
    return false;
}

/// Returns the width of a head for its rotation: head_dim counts even in classes that do not split by it.
double rotary_width(ConfigReader& r, const ModelConfig& c) {
    const double own = r.keep(json_number(r.root(), or_null("head_dim"), 0, r.file()), 0.0);
    return own == 0 ? double(c.stacks[0].d_head) : own;
}

void read_dims(ConfigReader& r, const ModelConfig& c, const Json& parameters, RopeKeys::Rotated rotated,
               Rope& rope) {
    const bool counts = rotated != RopeKeys::whole_head || rope.scaling != RopeScaling::none;
    const double share =
        counts ? r.keep(json_number(parameters, "partial_rotary_factor", 1, r.file()), 1.0) : 1;
    const double count = rotary_width(r, c) * share;
    const int d_head = c.stacks[0].d_head;
    if (count_dims(rope, count, d_head, rotated)) return;
    rope.dims = 0;
    r.fail(r.file() + ": rotary positions would turn " +
           std::to_string(int64_t(std::clamp(count, -1e6, 1e6))) + " of the " + std::to_string(d_head) +
           " dimensions of a head, which this kind of model cannot do; correct the share of a head that "
           "turns (partial_rotary_factor or rotary_pct) or the width of a head.");
}

}  // namespace

void complete_rope(ConfigReader& r, Json& parameters, const char* name, JsonKey key, double usual) {
    if (parameters.contains(name)) return;
    parameters[name] = r.keep(json_number(r.root(), key, usual, r.file()), usual);
}

void complete_rope_type(Json& parameters) {
    if (!parameters.contains("rope_type"))
        parameters["rope_type"] = parameters.value("type", Json("default"));
}

Rope read_rope_parameters(ConfigReader& r, const ModelConfig& c, const Json& parameters,
                          RopeKeys::Rotated rotated) {
    Rope rope;
    rope.theta = r.positive(parameters, "rope_theta", 10000);
    rope.scaling = scaling_of(r, parameters);
    rope.original_context = c.context;
    read_scaling(r, c, parameters, rope);
    read_dims(r, c, parameters, rotated, rope);
    return rope;
}

Rope read_rope(ConfigReader& r, const ModelConfig& c, const RopeKeys& keys) {
    Json parameters = r.object("rope_scaling");
    if (parameters.empty()) parameters = r.object("rope_parameters");
    for (const char* kind : {"full_attention", "sliding_attention"})
        if (keys.reads_layer_types && parameters.contains(kind))
            r.fail(r.file() + ": the rotary parameters differ by kind of layer (" + in_quotes(kind) +
                   "), which this kind of model cannot do; give one object with rope_type and rope_theta.");
    complete_rope(r, parameters, "rope_theta", keys.theta, keys.usual_theta);
    complete_rope(r, parameters, "partial_rotary_factor", keys.share, keys.usual_share);
    complete_rope_type(parameters);
    if (r.root().contains(kOriginal)) parameters[kOriginal] = r.root()[kOriginal];
    return read_rope_parameters(r, c, parameters, keys.rotated);
}

}  // namespace headlight
