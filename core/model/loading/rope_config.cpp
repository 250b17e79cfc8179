// Reads rotary positions as transformers does (ROPE_INIT_FUNCTIONS in modeling_rope_utils.py).
#include "model/loading/rope_config.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/quoted.h"

namespace headlight {

namespace {

constexpr const char *kOriginal = "original_max_position_embeddings", *kProportional = "proportional";

RopeScaling scaling_of(ConfigReader& r, const Json& parameters) {
    constexpr std::pair<const char*, RopeScaling> kinds[] = {
        {"default", RopeScaling::none},      {"linear", RopeScaling::linear},
        {"dynamic", RopeScaling::dynamic},   {"llama3", RopeScaling::llama3},
        {"longrope", RopeScaling::longrope}, {"yarn", RopeScaling::yarn},
        {kProportional, RopeScaling::linear}};
    const auto type = r.keep(json_string(parameters, "rope_type", "default", r.file()), std::string());
    for (const auto& [name, scaling] : kinds)
        if (type == name) return scaling;
    r.fail(r.file() + ": the rotary scaling " + in_quotes(type) +
           " is not one that Headlight computes; it knows default, linear, dynamic, llama3, yarn, longrope "
           "and proportional.");
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

/// Reads a factor for each rotated pair.
std::vector<float> pair_factors(ConfigReader& r, const Json& parameters, const char* key) {
    const Json list = r.keep(json_list(parameters, key, r.file()), Json(Json::array()));
    std::vector<float> out;
    for (const Json& value : list) out.push_back(value.is_number() ? value.get<float>() : 0.0f);
    if (out.empty() || out.size() > 1 << 13 ||
        !std::all_of(out.begin(), out.end(), [](float f) { return f > 0 && std::isfinite(f); }))
        r.fail(r.file() + ": \"" + key +
               "\" must list a number larger than 0 for each rotated pair; correct the " +
               "rotary parameters.");
    return out;
}

/// Reads the factors; their number is checked where the dimensions are known.
void read_longrope(ConfigReader& r, const ModelConfig& c, const Json& parameters, Rope& rope) {
    rope.freq_factors = pair_factors(r, parameters, "short_factor");
    rope.long_factors = pair_factors(r, parameters, "long_factor");
    const double longer = double(c.context) / rope.original_context;
    rope.factor =
        json_find(parameters, or_null("factor")) ? r.positive(parameters, "factor", longer) : longer;
    const double usual =
        rope.factor > 1 ? std::sqrt(1 + std::log(rope.factor) / std::log(double(rope.original_context))) : 1;
    rope.attention_factor =
        r.keep(json_number(parameters, or_null("attention_factor"), usual, r.file()), usual);
    if (!std::isfinite(float(rope.attention_factor)))
        r.fail(r.file() + ": longrope needs an original context of more than one token; correct the file.");
}

void read_scaling(ConfigReader& r, const ModelConfig& c, const Json& parameters, Rope& rope) {
    if (rope.scaling == RopeScaling::none) return;
    if (rope.scaling == RopeScaling::llama3 || rope.scaling == RopeScaling::yarn ||
        rope.scaling == RopeScaling::longrope) {
        const double original =
            json_find(parameters, kOriginal) ? r.positive(parameters, kOriginal, 1) : double(c.context);
        rope.original_context = int(std::clamp(original, 1.0, double(1 << 24)));
        if (rope.original_context != original)
            r.fail(wrong_type(r.file(), kOriginal, "a whole number up to 16777216", parameters[kOriginal])
                       .message);
    }
    if (rope.scaling == RopeScaling::yarn) return read_yarn(r, c, parameters, rope);
    if (rope.scaling == RopeScaling::longrope) return read_longrope(r, c, parameters, rope);
    const bool optional = parameters["rope_type"] == kProportional && !parameters.contains("factor");
    rope.factor = optional ? 1 : required(r, parameters, "factor");
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
double rotary_width(ConfigReader& r, int d_head) {
    const double own = r.keep(json_number(r.root(), or_null("head_dim"), 0, r.file()), 0.0);
    return own == 0 ? double(d_head) : own;
}

/// Reads which pairs of a whole head turn: the first ones, as many as the share says.
bool read_still(ConfigReader& r, int d_head, const Json& parameters, Rope& rope) {
    const double share = r.keep(json_number(parameters, "partial_rotary_factor", 1, r.file()), 1.0);
    if (!(share >= 0 && share <= 1) || d_head % 2) return false;
    rope.dims = d_head;
    rope.still = d_head / 2 - int(std::floor(share * d_head / 2));
    if (rope.still == d_head / 2) rope.dims = rope.still = 0;
    return true;
}

void read_dims(ConfigReader& r, int d_head, const Json& parameters, const RopeKeys& keys, Rope& rope) {
    const RopeKeys::Rotated rotated = keys.rotated;
    const bool proportional = parameters["rope_type"] == kProportional && rotated == RopeKeys::whole_head;
    if (proportional && read_still(r, d_head, parameters, rope)) return;
    const bool counts = rotated != RopeKeys::whole_head || rope.scaling != RopeScaling::none;
    const double share =
        counts ? r.keep(json_number(parameters, "partial_rotary_factor", 1, r.file()), 1.0) : 1;
    const double count = (keys.reads_head_dim ? rotary_width(r, d_head) : d_head) * share;
    if (count_dims(rope, count, d_head, rotated)) return;
    rope.dims = 0;
    r.fail(r.file() + ": rotary positions would turn " +
           std::to_string(int64_t(std::clamp(count, -1e6, 1e6))) + " of the " + std::to_string(d_head) +
           " dimensions of a head, which this kind of model cannot do; correct the share of a head that "
           "turns (partial_rotary_factor or rotary_pct) or the width of a head.");
}

/// Sets `name` in the object, if it is missing, to root[key], or to `usual` if that is missing too.
void complete_rope(ConfigReader& r, Json& parameters, const char* name, JsonKey key, double usual) {
    if (parameters.contains(name)) return;
    parameters[name] = r.keep(json_number(r.root(), key, usual, r.file()), usual);
}

/// Sets "rope_type" from "type", its name in older files.
void complete_rope_type(Json& parameters) {
    if (!parameters.contains("rope_type"))
        parameters["rope_type"] = parameters.value("type", Json("default"));
}

/// Reads them from one object that also holds rope_theta, rope_type and partial_rotary_factor.
Rope read_rope_parameters(ConfigReader& r, const ModelConfig& c, int d_head, const Json& parameters,
                          const RopeKeys& keys) {
    Rope rope;
    rope.theta = r.positive(parameters, "rope_theta", 10000);
    rope.scaling = scaling_of(r, parameters);
    rope.original_context = c.context;
    read_scaling(r, c, parameters, rope);
    read_dims(r, d_head, parameters, keys, rope);
    for (const std::vector<float>* factors : {&rope.freq_factors, &rope.long_factors})
        if (rope.dims && !factors->empty() && isize(*factors) != rope.dims / 2)
            r.fail(r.file() + ": longrope lists " + std::to_string(factors->size()) + " factors where " +
                   std::to_string(rope.dims / 2) + " pairs turn; correct the rotary parameters.");
    return rope;
}

}  // namespace

Rope read_rope(ConfigReader& r, const ModelConfig& c, int d_head, const RopeKeys& keys) {
    Json parameters = r.object("rope_scaling");
    if (parameters.empty()) parameters = r.object("rope_parameters");
    for (const char* kind : {"full_attention", "sliding_attention"})
        if (keys.reads_layer_types && parameters.contains(kind))
            r.fail(r.file() + ": the rotary parameters differ by kind of layer (" + in_quotes(kind) +
                   "), which this kind of model cannot do; give one object with rope_type and rope_theta.");
    complete_rope(r, parameters, "rope_theta", keys.theta, keys.usual_theta);
    complete_rope(r, parameters, "partial_rotary_factor", keys.share, keys.usual_share);
    complete_rope_type(parameters);
    if (keys.longrope && (parameters["rope_type"] == "su" || parameters["rope_type"] == "yarn"))
        parameters["rope_type"] = "longrope";
    if (r.root().contains(kOriginal))
        parameters[kOriginal] = r.root()[kOriginal];
    else if (keys.usual_original)
        parameters[kOriginal] = keys.usual_original;
    return read_rope_parameters(r, c, d_head, parameters, keys);
}

Rope read_rope_of_kind(ConfigReader& r, const ModelConfig& c, int d_head, const char* kind,
                       const RopeKeys& keys, bool scaled) {
    const Json both = r.object("rope_parameters");
    Json entry = r.keep(json_object(both, or_null(kind), r.file()), Json(Json::object()));
    if (!json_find(both, or_null(kind))) entry["rope_type"] = "default";
    if (scaled) entry.update(r.object("rope_scaling"));
    entry.erase("truncate");  // ignored outside the layer types' entries
    if (both.contains("truncate")) entry["truncate"] = both["truncate"];
    complete_rope_type(entry);
    complete_rope(r, entry, "rope_theta", keys.theta, keys.usual_theta);
    complete_rope(r, entry, "partial_rotary_factor", keys.share, keys.usual_share);
    return read_rope_parameters(r, c, d_head, entry, keys);
}

}  // namespace headlight
