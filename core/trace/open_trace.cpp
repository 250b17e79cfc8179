// A trace from a file: what was recorded takes the place of the forward pass.
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <map>

#include "base/quoted.h"
#include "base/utf8.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "trace/trace_file.h"

namespace headlight {

namespace {

constexpr int kMaxLayers = 1000, kMaxHeads = 1000, kMaxWidth = 1 << 20, kMaxTokens = 1 << 20;

/// The file while it is read.
struct TraceReader {
    const Safetensors& file;
    const std::string& name;
    const CancelFlag* cancel = nullptr;

    Error error(const std::string& what) const { return Error{name + ": " + what}; }
    const StoredTensor* find(const std::string& tensor) const {
        const auto it = file.tensors.find(tensor);
        return it == file.tensors.end() ? nullptr : &it->second;
    }
    Result<Json> metadata(const char* key) const {
        const auto it = file.metadata.find(key);
        return it == file.metadata.end() ? Result<Json>(Json()) : parse_json(it->second, name + "'s " + key);
    }
    /// object[key] from 1 to `most`; it must be there.
    Result<int64_t> count(const Json& object, const char* key, int max) const {
        TRY(const int64_t value, json_integer(object, key, 0, 1, max, name));
        if (value < 1)
            return error(std::string("its description of the model lacks \"") + key +
                         "\"; record the trace again.");
        return value;
    }
    /// [rows, columns] of floats, empty where the tensor is not there.
    Result<Matrix> matrix(const std::string& tensor, int64_t rows, int64_t columns) const {
        const StoredTensor* t = find(tensor);
        if (!t) return Matrix();
        if (std::string_view(t->dtype->name) != "F32" || element_count(t->shape) != rows * columns ||
            t->shape.empty() || t->shape[0] != rows)
            return error(tensor + " has the shape " + shape_text(t->shape) + " where " +
                         std::to_string(rows) + " rows of " + std::to_string(columns) +
                         " float32 are expected; record the trace again.");
        Matrix out(rows, columns);
        std::memcpy(out.data(), t->bytes.data(), t->bytes.size());
        if (!all_finite(out)) return error(tensor + " contains NaN or infinity; record the trace again.");
        return out;
    }
};

/// `whole` describes the model; files whose blocks all have the same heads may say so there, once.
Result<StackConfig> read_stack(const Json& json, const Json& whole, const TraceReader& in) {
    StackConfig out;
    if (!json.is_object()) return in.error("its stacks are not lists of layers; record the trace again.");
    TRY(out.name, json_string(json, "name", "blocks", in.name));
    TRY(const int64_t layers, in.count(json, "layers", kMaxLayers));
    out.layers = static_cast<int>(layers);
    const auto heads = [&](const char* key, int max) {
        return in.count(json.contains(key) ? json : whole, key, max);
    };
    TRY(const int64_t query_heads, heads("heads", kMaxHeads));
    TRY(const int64_t kv_heads, heads("kv_heads", kMaxHeads));
    TRY(const int64_t d_head, heads("d_head", kMaxWidth));
    if (query_heads % kv_heads)
        return in.error("its heads cannot share key/value heads evenly; record the trace again.");
    std::tie(out.heads, out.kv_heads, out.d_head) =
        std::tuple(static_cast<int>(query_heads), static_cast<int>(kv_heads), static_cast<int>(d_head));
    TRY(out.causal, json_boolean(json, "causal", true, in.name));
    TRY(out.cross, json_boolean(json, "cross", false, in.name));
    TRY(const Json windows, json_list(json, or_null("windows"), in.name));
    if (!windows.empty() && windows.size() != static_cast<size_t>(out.layers))
        return in.error("its windows are not one for each layer; record the trace again.");
    for (const Json& w : windows) {
        TRY(const int64_t window, whole_number(w, "windows", 0, INT_MAX, in.name));
        out.windows.push_back(window < kMaxTokens ? static_cast<int>(window) : 0);
    }
    return out;
}

/// What the metadata say of the model.
Result<ModelConfig> read_config(const TraceReader& in) {
    TRY(const Json json, in.metadata("config"));
    if (!json.is_object())
        return in.error(
            "it does not describe its model (no \"config\" in its metadata); record it with 'headlight "
            "trace' or models/capture_trace.py.");
    ModelConfig c;
    TRY(const std::string kind, json_string(json, "kind", "decoder", in.name));
    constexpr std::string_view kKinds[] = {"decoder", "encoder", "encoder_decoder", "vision"};
    if (std::find(std::begin(kKinds), std::end(kKinds), kind) == std::end(kKinds))
        return in.error("it calls its model " + in_quotes(kind) +
                        ", a kind that Headlight does not know; record the trace again.");
    c.kind = kind == "encoder" || kind == "vision" ? ModelKind::encoder
             : kind == "encoder_decoder"
                 ? ModelKind::encoder_decoder
                 : ModelKind::decoder;  // patches are tokens here: the picture was not recorded
    TRY(c.family_name, json_string(json, "family", "trace", in.name));
    TRY(const int64_t d_model, in.count(json, "d_model", kMaxWidth));
    c.d_model = c.d_embed = static_cast<int>(d_model);
    const auto stacks = json.find("stacks");
    if (stacks == json.end() || !stacks->is_array() || stacks->empty() || stacks->size() > 2)
        return in.error("it does not name one or two stacks of layers; record the trace again.");
    c.stacks.clear();
    for (const Json& stack : *stacks) {
        TRY(StackConfig s, read_stack(stack, json, in));
        c.stacks.push_back(std::move(s));
    }
    if (c.stacks[0].cross || (c.stacks.size() == 2) != (c.kind == ModelKind::encoder_decoder))
        return in.error("its stacks do not fit its kind; record the trace again.");
    return c;
}

Result<Sequence> read_sequence(const TraceReader& in, const std::string& prefix) {
    Sequence out;
    TRY(const Json tokens, in.metadata((prefix + "tokens").c_str()));
    TRY(const Json labels, in.metadata((prefix + "labels").c_str()));
    const Json& shown =
        labels.is_array() && (!tokens.is_array() || labels.size() == tokens.size()) ? labels : tokens;
    if (!shown.is_array() || shown.empty() || shown.size() > kMaxTokens)
        return in.error("it does not list its tokens; record the trace again.");
    const StoredTensor* ids = in.find(prefix.empty() ? "input_ids" : "decoder_input_ids");
    const bool fits = ids && std::string_view(ids->dtype->name) == "I64" &&
                      element_count(ids->shape) == static_cast<int64_t>(shown.size());
    std::map<std::string, int64_t> numbers;  // without ids: negative ones, equal for equal tokens
    for (size_t i = 0; i < shown.size(); ++i) {
        int64_t id = numbers
                         .emplace(shown[i].dump(-1, ' ', false, Json::error_handler_t::replace),
                                  -1 - static_cast<int64_t>(i))
                         .first->second;
        if (fits) {
            std::memcpy(&id, ids->bytes.data() + i * sizeof id, sizeof id);
            if (id < 0 || id > 1 << 30)
                return in.error("it holds the token id " + std::to_string(id) +
                                ", which no vocabulary has; record the trace again.");
        }
        out.ids.push_back(static_cast<int>(id));
        out.tokens.push_back(shown[i].is_string() ? valid_utf8(shown[i].get<std::string>()) : "?");
    }
    return out;
}

/// How q and k meet: one scale for each block, and the soft cap; nothing where patterns have to be recorded.
struct ScoreParameters {
    std::vector<float> scale;
    float cap = 0;
};

Result<ScoreParameters> read_score_parameters(const TraceReader& in, const ModelConfig& c) {
    ScoreParameters out;
    TRY(const Json json, in.metadata("attention"));
    if (!json.is_object()) return out;
    TRY(const Json scales, json_list(json, "scale", in.name));
    if (scales.empty()) return out;
    if (scales.size() != static_cast<size_t>(c.blocks()))
        return in.error("it does not scale the scores of each attention block; record the trace again.");
    TRY(const double cap, json_number(json, "cap", 0, in.name));
    out.cap = static_cast<float>(cap);
    for (const Json& s : scales) {
        if (!s.is_number() || !std::isfinite(s.get<float>()))
            return wrong_type(in.name, "scale", "a number for each attention block", s);
        out.scale.push_back(s.get<float>());
    }
    return out;
}

/// The recorded patterns of all heads in place of what would be computed.
Status take_patterns(const TraceReader& in, const std::string& tensor, int queries, int keys,
                     AttentionRule& rule) {
    const StoredTensor* t = in.find(tensor);
    const std::vector<int64_t> shape{rule.heads, queries, keys};
    if (!t || std::string_view(t->dtype->name) != "F32" || t->shape != shape)
        return in.error(t ? tensor + " has the shape " + shape_text(t->shape) + " where " +
                                shape_text(shape) + " is expected; record the trace again."
                          : "it holds neither " + tensor +
                                " nor q and k with what is needed to join them; record it with --capture "
                                "'*hook_pattern'.");
    const auto size = static_cast<size_t>(queries) * static_cast<size_t>(keys);
    for (int head = 0; head < rule.heads; ++head) {
        if (stopped(in.cancel)) return cancelled();
        Matrix pattern(queries, keys);
        std::memcpy(pattern.data(), t->bytes.data() + static_cast<size_t>(head) * size * sizeof(float),
                    size * sizeof(float));
        if (!all_finite(pattern))
            return in.error(tensor + " contains NaN or infinity; record the trace again.");
        HeadRule changed;
        changed.frozen = std::make_shared<const Matrix>(std::move(pattern));
        rule.changed.push_back(std::move(changed));
    }
    return success();
}

std::string tensors_at(const ModelConfig& c, int block) {
    const AttentionBlock where = c.block(block);
    return c.stacks[static_cast<size_t>(where.stack)].name + "." + std::to_string(where.layer) +
           (where.kind == AttentionKind::cross ? ".cross_attn." : ".attn.");
}

Result<AttentionActivations> read_attention(const TraceReader& in, const Trace& t, int block,
                                            const ScoreParameters& parameters, bool own_mask) {
    const ModelConfig& c = t.config();
    const AttentionBlock where = c.block(block);
    const StackConfig& stack = c.stacks[static_cast<size_t>(where.stack)];
    const bool cross = where.kind == AttentionKind::cross;
    const int queries = t.query_count(block), keys = t.key_count(block);
    const std::string at = tensors_at(c, block);
    AttentionRule rule;
    rule.heads = stack.heads;
    rule.kv_heads = stack.kv_heads;
    rule.cap = parameters.cap;
    rule.mask = cross || !own_mask ? MaskPlan::full(queries, keys)
                                   : MaskPlan::make({}, {stack.causal, stack.window(where.layer)},
                                                    std::vector<int>(static_cast<size_t>(queries), 0));
    AttentionActivations out;
    if (!parameters.scale.empty()) {
        rule.scale = parameters.scale[static_cast<size_t>(block)];
        TRY(out.q, in.matrix(at + "hook_q", queries, Index{stack.heads} * stack.d_head));
        TRY(out.k, in.matrix(at + "hook_k", keys, Index{stack.kv_heads} * stack.d_head));
        TRY(out.v, in.matrix(at + "hook_v", keys, Index{stack.kv_heads} * stack.d_head));
    } else {
        TRY_STATUS(take_patterns(in, at + "hook_pattern", queries, keys, rule));
        out.q = Matrix::Zero(queries, Index{stack.heads} * stack.d_head);
        out.k = Matrix::Zero(keys, Index{stack.kv_heads} * stack.d_head);
    }
    out.rule = std::make_shared<const AttentionRule>(std::move(rule));
    return out;
}

Result<std::shared_ptr<const Trace>> build(const TraceReader& in) {
    if (const auto format = in.file.metadata.find("format");
        format == in.file.metadata.end() || format->second != "headlight-trace")
        return in.error(
            "it is not a trace of Headlight; record one with 'headlight trace' or models/capture_trace.py.");
    auto model = std::make_shared<Model>();
    TRY(model->config, read_config(in));
    const auto called = in.file.metadata.find("model");
    model->name =
        (called == in.file.metadata.end() ? "model" : printable(shortened(called->second))) + " (trace)";
    const auto mask = in.file.metadata.find("mask");
    const bool own_mask =
        (mask == in.file.metadata.end() || mask->second == "own") && !in.file.metadata.count("changes");
    Trace t;
    t.model = model;
    const ModelConfig& c = model->config;
    for (size_t stack = 0; stack < c.stacks.size(); ++stack) {
        TRY(Sequence s, read_sequence(in, stack == 0 ? "" : "decoder_"));
        t.request.inputs.push_back(std::move(s));
    }
    TRY(ScoreParameters parameters, read_score_parameters(in, c));
    for (int block = 0; block < c.blocks(); ++block)
        if (!own_mask || !in.find(tensors_at(c, block) + "hook_q") ||
            !in.find(tensors_at(c, block) + "hook_k"))
            parameters.scale.clear();
    if (parameters.scale
            .empty()) {  // patterns stand for themselves: q and k are placeholders, as narrow as can be
        for (StackConfig& s : model->config.stacks) {
            s.d_head = 1;
            s.kv_heads = s.heads;
        }
    }
    for (size_t index = 0; index < c.stacks.size(); ++index) {
        const StackConfig& stack = c.stacks[index];
        auto activations = std::make_shared<StackActivations>();
        for (int layer = 0; layer < stack.layers; ++layer) {
            if (stopped(in.cancel)) return cancelled();
            auto one = std::make_shared<LayerActivations>();
            for (const int block : c.blocks_of(static_cast<int>(index), layer)) {
                TRY(auto attention, read_attention(in, t, block, parameters, own_mask));
                (c.block(block).kind == AttentionKind::cross ? one->cross : one->self) = std::move(attention);
            }
            activations->layers.push_back(std::move(one));
        }
        t.activations.stacks.push_back(std::move(activations));
    }
    return std::make_shared<const Trace>(std::move(t));
}

}  // namespace

Result<std::shared_ptr<const Trace>> open_trace(const std::filesystem::path& path, const CancelFlag* cancel) {
    TRY(const Safetensors file, open_safetensors(path));
    auto trace = build({file, display_path(path), cancel});
    TRY_STATUS(file.file->check_unchanged());
    return trace;
}

Result<std::shared_ptr<const Trace>> parse_trace(std::span<const std::byte> bytes, const std::string& name) {
    TRY(const Safetensors file, parse_safetensors(bytes, name));
    return build({file, name});
}

Result<std::vector<Sequence>> recorded_sequences(const Trace& trace) {
    for (const Sequence& s : trace.request.inputs)
        if (!s.ids.empty() && s.ids[0] < 0)
            return Error{trace.model->name +
                         " holds no token ids, so no model can run the same tokens; give the text, or record "
                         "it with --capture '*input_ids'."};
    return trace.request.inputs;
}

bool is_trace_file(const std::filesystem::path& path) {
    if (path.extension() != ".safetensors") return false;
    const auto file = open_safetensors(path);
    return file && file->metadata.count("format") && file->metadata.at("format") == "headlight-trace";
}

}  // namespace headlight
