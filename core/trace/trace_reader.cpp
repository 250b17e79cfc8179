// Reads a trace file's description of its model and tokens.
#include "trace/trace_reader.h"

#include <climits>
#include <cstring>
#include <map>
#include <tuple>

#include "base/cast.h"
#include "base/quoted.h"
#include "base/utf8.h"

namespace headlight {

namespace {

constexpr int kMaxLayers = 1000, kMaxHeads = 1000, kMaxWidth = 1 << 20, kMaxTokens = 1 << 20;

/// `whole` describes the model; if all blocks have the same heads, it may say so once there.
Result<StackConfig> read_stack(const Json& json, const Json& whole, const TraceReader& in) {
    StackConfig out;
    if (!json.is_object()) return in.error("its stacks are not lists of layers; record the trace again.");
    TRY(out.name, json_string(json, "name", "blocks", in.name));
    TRY(const int64_t layers, in.count(json, "layers", kMaxLayers));
    out.layers = narrow<int>(layers);
    const auto heads = [&](const char* key, int max) {
        return in.count(json.contains(key) ? json : whole, key, max);
    };
    TRY(const int64_t query_heads, heads("heads", kMaxHeads));
    TRY(const int64_t kv_heads, heads("kv_heads", kMaxHeads));
    TRY(const int64_t d_head, heads("d_head", kMaxWidth));
    if (query_heads % kv_heads)
        return in.error("its heads cannot share key/value heads evenly; record the trace again.");
    std::tie(out.heads, out.kv_heads, out.d_head) =
        std::tuple(narrow<int>(query_heads), narrow<int>(kv_heads), narrow<int>(d_head));
    TRY(out.causal, json_boolean(json, "causal", true, in.name));
    TRY(out.cross, json_boolean(json, "cross", false, in.name));
    TRY(const Json windows, json_list(json, or_null("windows"), in.name));
    if (!windows.empty() && isize(windows) != out.layers)
        return in.error("its windows are not one for each layer; record the trace again.");
    for (const Json& w : windows) {
        TRY(const int64_t window, whole_number(w, "windows", 0, INT_MAX, in.name));
        out.windows.push_back(window < kMaxTokens ? narrow<int>(window) : 0);
    }
    return out;
}

}  // namespace

const StoredTensor* TraceReader::find(const std::string& tensor) const {
    const auto it = file.tensors.find(tensor);
    return it == file.tensors.end() ? nullptr : &it->second;
}

Result<Json> TraceReader::metadata(const char* key) const {
    const auto it = file.metadata.find(key);
    return it == file.metadata.end() ? Result<Json>(Json()) : parse_json(it->second, name + "'s " + key);
}

Result<int64_t> TraceReader::count(const Json& object, const char* key, int max) const {
    TRY(const int64_t value, json_integer(object, key, 0, 1, max, name));
    if (value < 1)
        return error(std::string("its description of the model lacks \"") + key +
                     "\"; record the trace again.");
    return value;
}

Result<Matrix> TraceReader::matrix(const std::string& tensor, int64_t rows, int64_t columns) const {
    const StoredTensor* t = find(tensor);
    if (!t) return Matrix();
    if (std::string_view(t->dtype->name) != "F32" || element_count(t->shape) != rows * columns ||
        t->shape.empty() || t->shape[0] != rows)
        return error(tensor + " has the shape " + shape_text(t->shape) + " where " + std::to_string(rows) +
                     " rows of " + std::to_string(columns) +
                     " float32 are expected; record the trace again.");
    Matrix out(rows, columns);
    std::memcpy(out.data(), t->bytes.data(), t->bytes.size());
    if (!all_finite(out)) return error(tensor + " contains NaN or infinity; record the trace again.");
    return out;
}

Result<ModelConfig> TraceReader::config() const {
    TRY(const Json json, metadata("config"));
    if (!json.is_object())
        return error(
            "it does not describe its model (no \"config\" in its metadata); record it with 'headlight "
            "trace' or models/capture_trace.py.");
    ModelConfig c;
    TRY(const std::string kind, json_string(json, "kind", "decoder", name));
    constexpr std::string_view kKinds[] = {"decoder", "encoder", "encoder_decoder", "vision"};
    if (!contains(kKinds, kind))
        return error("it calls its model " + in_quotes(kind) +
                     ", a kind that Headlight does not know; record the trace again.");
    c.kind = kind == "encoder" || kind == "vision" ? ModelKind::encoder
             : kind == "encoder_decoder"
                 ? ModelKind::encoder_decoder
                 : ModelKind::decoder;  // patches count as tokens here: the image was not recorded
    c.can = Capabilities::of(c.kind);
    TRY(c.family_name, json_string(json, "family", "trace", name));
    TRY(const int64_t d_model, count(json, "d_model", kMaxWidth));
    c.d_model = c.d_embed = narrow<int>(d_model);
    const auto stacks = json.find("stacks");
    if (stacks == json.end() || !stacks->is_array() || stacks->empty() || stacks->size() > 2)
        return error("it does not name one or two stacks of layers; record the trace again.");
    c.stacks.clear();
    for (const Json& stack : *stacks) {
        TRY(StackConfig s, read_stack(stack, json, *this));
        c.stacks.push_back(std::move(s));
    }
    if (c.stacks[0].cross || (c.stacks.size() == 2) != c.can.write_target)
        return error("its stacks do not fit its kind; record the trace again.");
    return c;
}

Result<Sequence> TraceReader::sequence(const std::string& prefix) const {
    Sequence out;
    TRY(const Json tokens, metadata((prefix + "tokens").c_str()));
    TRY(const Json labels, metadata((prefix + "labels").c_str()));
    const Json& shown =
        labels.is_array() && (!tokens.is_array() || labels.size() == tokens.size()) ? labels : tokens;
    if (!shown.is_array() || shown.empty() || shown.size() > kMaxTokens)
        return error("it does not list its tokens; record the trace again.");
    const StoredTensor* ids = find(prefix.empty() ? "input_ids" : "decoder_input_ids");
    const bool fits =
        ids && std::string_view(ids->dtype->name) == "I64" && element_count(ids->shape) == std::ssize(shown);
    std::map<std::string, int64_t> numbers;  // without ids: negative ones, equal for equal tokens
    for (int i = 0; i < isize(shown); ++i) {
        int64_t id = numbers.emplace(json_text(shown[i]), -1 - i).first->second;
        if (fits) {
            std::memcpy(&id, ids->bytes.data() + i * sizeof id, sizeof id);
            if (id < 0 || id > 1 << 30)
                return error("it holds the token id " + std::to_string(id) +
                             ", which no vocabulary has; record the trace again.");
        }
        out.ids.push_back(narrow<int>(id));
        out.tokens.push_back(shown[i].is_string() ? valid_utf8(shown[i].get<std::string>()) : "?");
    }
    return out;
}

}  // namespace headlight
