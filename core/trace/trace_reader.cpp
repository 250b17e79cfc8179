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

/// Lists one block of each layer.
using LayerBlocks = std::vector<AttentionSpec*>;

/// Reads a size of each layer's attention: one number, or a list of one for each layer.
Status read_sizes(const Json& json, const char* key, int max, int AttentionSpec::*size, const TraceReader& in,
                  const LayerBlocks& layers) {
    const bool listed = json.contains(key) && json[key].is_array();
    if (listed && json[key].size() != layers.size())
        return in.error(std::string("its ") + key + " are not one for each layer; record the trace again.");
    for (size_t l = 0; l < layers.size(); ++l) {
        TRY(const int64_t count,
            listed ? in.count(Json{{key, json[key][l]}}, key, max) : in.count(json, key, max));
        layers[l]->*size = narrow<int>(count);
    }
    return success();
}

/// Reads how far the queries of each layer see: its window, or its chunk.
Status read_reach(const Json& json, const char* key, int AttentionSpec::*size, const TraceReader& in,
                  const LayerBlocks& layers) {
    TRY(const Json list, json_list(json, or_null(key), in.name));
    if (!list.empty() && list.size() != layers.size())
        return in.error(std::string("its ") + key + " are not one for each layer; record the trace again.");
    for (size_t l = 0; l < list.size(); ++l) {
        TRY(const int64_t tokens, whole_number(list[l], key, 0, INT_MAX, in.name));
        layers[l]->*size = tokens < kMaxTokens ? narrow<int>(tokens) : 0;
    }
    return success();
}

/// Reads which layers mix tokens by a recurrence, so that their recorded matrices are signed.
Status read_recurrent(const Json& json, const TraceReader& in, const LayerBlocks& layers) {
    TRY(const Json list, json_list(json, or_null("recurrent"), in.name));
    if (!list.empty() && list.size() != layers.size())
        return in.error("its recurrent layers are not said of each layer; record the trace again.");
    for (size_t l = 0; l < list.size(); ++l) {
        TRY(const int64_t recurrent, whole_number(list[l], "recurrent", 0, 1, in.name));
        if (recurrent) layers[l]->recurrence = RecurrenceSpec{};
    }
    return success();
}

/// Reads one block of each layer; `whole` gives the sizes that json leaves out.
Status read_blocks(const Json& json, const Json& whole, const TraceReader& in, const LayerBlocks& layers) {
    const auto read = [&](const char* key, int max, int AttentionSpec::*size) {
        return read_sizes(json.contains(key) ? json : whole, key, max, size, in, layers);
    };
    TRY_STATUS(read("heads", kMaxHeads, &AttentionSpec::heads));
    TRY_STATUS(read("kv_heads", kMaxHeads, &AttentionSpec::kv_heads));
    TRY_STATUS(read("d_head", kMaxWidth, &AttentionSpec::d_head));
    if (json.contains("d_value")) TRY_STATUS(read("d_value", kMaxWidth, &AttentionSpec::d_value));
    for (const AttentionSpec* layer : layers)
        if (layer->heads % layer->kv_heads)
            return in.error("its heads cannot share key/value heads evenly; record the trace again.");
    TRY_STATUS(read_reach(json, "windows", &AttentionSpec::window, in, layers));
    TRY_STATUS(read_reach(json, "chunks", &AttentionSpec::chunk, in, layers));
    return read_recurrent(json, in, layers);
}

/// `whole` describes the model; if all blocks have the same heads, it may say so once there.
Result<StackConfig> read_stack(const Json& json, const Json& whole, const TraceReader& in) {
    StackConfig out;
    if (!json.is_object()) return in.error("its stacks are not lists of layers; record the trace again.");
    TRY(out.name, json_string(json, "name", "blocks", in.name));
    TRY(const int64_t layers, in.count(json, "layers", kMaxLayers));
    out.layers.resize(layers);
    TRY(out.causal, json_boolean(json, "causal", true, in.name));
    TRY(const bool cross, json_boolean(json, "cross", false, in.name));
    LayerBlocks first, second;
    for (LayerSpec& layer : out.layers) first.push_back(&layer.attention);
    TRY_STATUS(read_blocks(json, whole, in, first));
    if (cross) out.source = 0;
    for (LayerSpec& layer : out.layers)
        if (cross) {
            layer.second = layer.attention;
            layer.second->window = layer.second->chunk = 0;
        }
    const auto beside = json.find("beside");
    if (beside == json.end() || cross) return out;
    if (!beside->is_object())
        return in.error("what it has beside attention is not described; record the trace again.");
    for (LayerSpec& layer : out.layers) second.push_back(&layer.second.emplace());
    TRY_STATUS(read_blocks(*beside, *beside, in, second));
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
    if (!t->dtype->holds_weights() || element_count(t->shape) != rows * columns || t->shape.empty() ||
        t->shape[0] != rows)
        return error(tensor + " has the shape " + shape_text(t->shape) + " where " + std::to_string(rows) +
                     " rows of " + std::to_string(columns) + " floats are expected; record the trace again.");
    Matrix out(rows, columns);
    if (out.size() > 0) t->dtype->decode(t->bytes.data(), out.size(), out.data());
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
    if (c.stacks[0].cross() || (c.stacks.size() == 2) != c.can.write_target)
        return error("its stacks do not fit its kind; record the trace again.");
    c.number_blocks();
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
