// Reads bounded values out of a config.json.
#include "model/loading/config_reader.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/check.h"
#include "base/quoted.h"
#include "model/activation.h"

namespace headlight {

void ConfigReader::fail(const std::string& message) {
    if (error_.empty()) error_ = message;
}

JsonKey ConfigReader::present(Keys keys) const {
    for (const JsonKey& key : keys)
        if (json_find(root_, key)) return key;
    return *keys.begin();
}

int ConfigReader::integer(Keys keys, int64_t fallback, int64_t low, int64_t high) {
    return narrow<int>(keep(json_integer(root_, present(keys), fallback, low, high, file_),
                            std::clamp(fallback, low, high)));
}

float ConfigReader::number(Keys keys, double fallback) {
    const JsonKey key = present(keys);
    const auto value = float(keep(json_number(root_, key, fallback, file_), fallback));
    if (!std::isfinite(value))
        fail(file_ + ": " + in_quotes(key.name) + " is more than a float32 holds; correct the file.");
    return value;
}

double ConfigReader::positive(const Json& object, JsonKey key, double fallback) {
    const double value = keep(json_number(object, key, fallback, file_), fallback);
    if (const auto stored = float(value); stored > 0 && std::isfinite(stored)) return value;
    fail(file_ + ": " + in_quotes(key.name) + " must be larger than 0 and within float32; correct the file.");
    return fallback;
}

float ConfigReader::cap(const char* key, double usual) {
    if (is_null(key) || (usual == 0 && !has(key))) return 0;
    return float(positive(root_, key, usual));
}

Json ConfigReader::object(const char* key) {
    return keep(json_object(root_, or_null(key), file_), Json(Json::object()));
}

bool ConfigReader::boolean(Keys keys, bool fallback) {
    return keep(json_boolean(root_, present(keys), fallback, file_), fallback);
}

std::string ConfigReader::text(Keys keys, const std::string& fallback) {
    return keep(json_string(root_, present(keys), fallback, file_), fallback);
}

Activation ConfigReader::activation_named(const std::string& label) {
    std::string known;
    for (const ActivationRow& row : activations())
        for (const char* spelling : row.spellings) {
            if (!spelling) break;
            if (label == spelling) return row.activation;
            known += (known.empty() ? "" : ", ") + std::string(spelling);
        }
    fail(file_ + ": the activation " + in_quotes(label) + " is not one that Headlight computes; it knows " +
         known + ".");
    return Activation::gelu;
}

void ConfigReader::widths(ModelConfig& c, AttentionSpec& attention, Keys d_model, int64_t d_model_default,
                          Keys heads, int64_t heads_default, const std::optional<HeadDim>& own) {
    c.d_model = c.d_embed = integer(d_model, d_model_default, 1, 1 << 17);
    this->heads(attention, c.d_model, heads, heads_default, own);
}

void ConfigReader::heads(AttentionSpec& s, int d_model, Keys keys, int64_t fallback,
                         const std::optional<HeadDim>& own) {
    s.heads = s.kv_heads = integer(keys, fallback, 1, 1 << 12);
    s.d_head = std::max(1, d_model / s.heads);
    const bool usual = own && own->usual && !is_null(own->key.name);  // null: d_model / heads
    if (own) s.d_head = integer({own->key}, usual ? own->usual : s.d_head, 1, 1 << 14);
    const bool stated = own && (usual || has(own->key.name));
    if (!stated && d_model % s.heads != 0)
        fail(file_ + ": " + std::to_string(s.heads) + " heads do not divide the width " +
             std::to_string(d_model) + "; correct the number of heads or the width.");
}

void ConfigReader::kv_heads(AttentionSpec& s, JsonKey key, int64_t fallback) {
    s.kv_heads = integer({key}, is_null(key.name) ? s.heads : fallback, 1, 1 << 12);
    if (s.heads % s.kv_heads != 0)
        fail(file_ + ": " + std::to_string(s.heads) + " query heads cannot share " +
             std::to_string(s.kv_heads) + " key/value heads evenly; correct " + in_quotes(key.name) + ".");
}

void ConfigReader::refuse_cross_attention() {
    if (boolean({"add_cross_attention"}, false))
        fail(
            file_ +
            ": its layers also read an encoder (add_cross_attention), which this folder does not hold; use a "
            "model without, or a whole encoder–decoder such as BART or T5.");
}

std::vector<std::string> ConfigReader::architectures() {
    std::vector<std::string> out;
    const Json list = keep(json_list(root_, or_null("architectures"), file_), Json(Json::array()));
    for (const Json& name : list)
        if (name.is_string()) out.push_back(name.get<std::string>());
    return out;
}

void ConfigReader::windows(StackConfig& stack, int window, const std::function<bool(int)>& sliding) {
    const bool listed = has("layer_types");
    if (listed && (!root_["layer_types"].is_array() || root_["layer_types"].size() != stack.layers.size())) {
        fail(file_ + ": \"layer_types\" must name the kind of each of the " + std::to_string(stack.depth()) +
             " layers; correct the file.");
        return;
    }
    for (int l = 0; l < stack.depth(); ++l) {
        const Json kind =
            listed ? root_["layer_types"][l] : Json(sliding(l) ? "sliding_attention" : "full_attention");
        if (kind == "sliding_attention")
            stack.layers[l].attention.window = window;
        else if (kind != "full_attention")
            fail(wrong_type(file_, "layer_types", "a list of \"full_attention\" and \"sliding_attention\"",
                            kind)
                     .message);
    }
}

Result<ModelConfig> ConfigReader::finish(ModelConfig c) const {
    if (!error_.empty()) return Error{error_};
    double longer = 1;
    for (const LayerSpec& layer : c.stacks[0].layers) {
        const Rope& rope = layer.attention.rope;
        if (rope.dims) c.positions = PositionScheme::rotary;
        if (rope.scaling == RopeScaling::dynamic) longer = rope.factor;
    }
    c.context = int(std::min(c.context * longer, double{1 << 24}));
    if (c.buckets.count && c.positions == PositionScheme::none) c.positions = PositionScheme::relative;
    c.can = Capabilities::of(c.kind);
    c.number_blocks();
    return c;
}

}  // namespace headlight
