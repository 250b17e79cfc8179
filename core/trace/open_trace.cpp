// Opens a trace file: recorded activations replace the forward pass.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cast.h"
#include "base/quoted.h"
#include "trace/recorded_changes.h"
#include "trace/trace_file.h"
#include "trace/trace_reader.h"

namespace headlight {

namespace {

/// Holds how q·k gives scores: one scale per block, the soft cap, the sinks of each head; empty if patterns
/// have to be recorded.
struct ScoreParameters {
    std::vector<float> scale;
    float cap = 0;
    std::vector<std::vector<float>> sinks;  // [block][head]; empty: none
};

Result<std::vector<std::vector<float>>> read_sinks(const TraceReader& in, const Json& json,
                                                   const ModelConfig& c) {
    std::vector<std::vector<float>> out;
    TRY(const Json list, json_list(json, or_null("sinks"), in.name));
    const Error wrong = in.error("its sinks are not one for each head of a block; record the trace again.");
    if (!list.empty() && isize(list) != c.blocks()) return wrong;
    for (int block = 0; block < isize(list); ++block) {
        if (!list[block].is_array() || (!list[block].empty() && isize(list[block]) != c.heads(block)))
            return wrong;
        out.emplace_back();
        for (const Json& s : list[block]) {
            if (!s.is_number() || !std::isfinite(s.get<float>())) return wrong;
            out.back().push_back(s.get<float>());
        }
    }
    return out;
}

Result<ScoreParameters> read_score_parameters(const TraceReader& in, const ModelConfig& c) {
    ScoreParameters out;
    TRY(const Json json, in.metadata("attention"));
    if (!json.is_object()) return out;
    TRY(const Json scales, json_list(json, "scale", in.name));
    if (scales.empty()) return out;
    if (isize(scales) != c.blocks())
        return in.error("it does not scale the scores of each attention block; record the trace again.");
    TRY(const double cap, json_number(json, "cap", 0, in.name));
    out.cap = float(cap);
    if (!std::isfinite(out.cap)) return wrong_type(in.name, "cap", "a finite number", json["cap"]);
    for (const Json& s : scales) {
        if (!s.is_number() || !std::isfinite(s.get<float>()))
            return wrong_type(in.name, "scale", "a number for each attention block", s);
        out.scale.push_back(s.get<float>());
    }
    TRY(out.sinks, read_sinks(in, json, c));
    return out;
}

/// Returns the weights in the mapped file, or a copy if they are no float32, nothing keeps the bytes, or they
/// are not aligned.
RecordedPatterns place_patterns(const TraceReader& in, const StoredTensor& t, int queries, int keys) {
    const bool aligned = reinterpret_cast<uintptr_t>(t.bytes.data()) % alignof(float) == 0;
    if (in.file.file && aligned && std::string_view(t.dtype->name) == "F32")
        return {reinterpret_cast<const float*>(t.bytes.data()), queries, keys, in.file.file};
    const auto copy = std::make_shared<std::vector<float>>(size_t(element_count(t.shape)));
    if (!copy->empty()) t.dtype->decode(t.bytes.data(), std::ssize(*copy), copy->data());
    return {copy->data(), queries, keys, copy};
}

/// Replaces the computed patterns of all heads by the recorded ones.
Status take_patterns(const TraceReader& in, const std::string& tensor, int queries, int keys,
                     AttentionRule& rule) {
    const StoredTensor* t = in.find(tensor);
    const std::vector<int64_t> shape{rule.heads, queries, keys};
    if (!t || !t->dtype->holds_weights() || t->shape != shape)
        return in.error(t ? tensor + " has the shape " + shape_text(t->shape) + " where " +
                                shape_text(shape) + " is expected; record the trace again."
                          : "it holds neither " + tensor +
                                " nor q and k with what is needed to join them; record it with --capture "
                                "'*hook_pattern'.");
    rule.source = place_patterns(in, *t, queries, keys);
    for (int head = 0; head < rule.heads; ++head) {
        if (stopped(in.cancel)) return cancelled();
        if (!all_finite(*rule.given_pattern(head)))
            return in.error(tensor + " contains NaN or infinity; record the trace again.");
    }
    return success();
}

/// Returns whether no score of these vectors can overflow: |q · k| ≤ ‖q‖ ‖k‖, before and after the scale.
bool scores_stay_finite(const Matrix& q, const Matrix& k, float scale) {
    const auto largest_norm = [](const Matrix& rows) {
        return std::sqrt(rows.cast<double>().rowwise().squaredNorm().maxCoeff());
    };
    return largest_norm(q) * largest_norm(k) * std::max(1.0, std::abs(double(scale))) <
           std::numeric_limits<float>::max();
}

Result<AttentionActivations> read_attention(const TraceReader& in, const Trace& t, int block,
                                            const ScoreParameters& parameters, bool own_mask,
                                            const std::vector<Change>& changes) {
    const ModelConfig& c = t.config();
    const AttentionBlock where = c.block(block);
    const StackConfig& stack = c.stacks[where.stack];
    const bool cross = where.kind == AttentionKind::cross;
    const int queries = t.query_count(block), keys = t.key_count(block);
    const std::string at = tensors_at(c, block);
    AttentionRule rule;
    const AttentionSpec& spec = c.attention(block);
    rule.heads = spec.heads;
    rule.kv_heads = spec.kv_heads;
    rule.cap = parameters.cap;
    rule.mask = cross || !own_mask ? MaskPlan::full(queries, keys)
                                   : MaskPlan::make({}, {stack.causal, spec.window, spec.chunk},
                                                    std::vector<int>(queries, 0));
    AttentionActivations out;
    if (!parameters.scale.empty()) {
        rule.scale = parameters.scale[block];
        if (!parameters.sinks.empty()) rule.sinks = parameters.sinks[block];
        TRY(const Matrix q, in.matrix(at + "hook_q", queries, Index{spec.heads} * spec.d_head));
        TRY(const Matrix k, in.matrix(at + "hook_k", keys, Index{spec.kv_heads} * spec.d_head));
        if (!scores_stay_finite(q, k, rule.scale))
            return in.error(at +
                            "hook_q and hook_k are so large that their scores are infinite; record the "
                            "trace again.");
        out.q = q;
        out.k = k;
        TRY(out.v, in.matrix(at + "hook_v", keys, Index{spec.kv_heads} * spec.value_width()));
    } else {
        TRY_STATUS(take_patterns(in, at + "hook_pattern", queries, keys, rule));
        out.q = Matrix::Zero(queries, Index{spec.heads} * spec.d_head);
        if (spec.recurrence) rule.recurrence = AttentionRule::Recurrence{};  // the recorded matrix is signed
        out.k = Matrix::Zero(keys, Index{spec.kv_heads} * rule.key_width(spec.d_head));
    }
    note_changes(changes, c, block, queries, rule);
    out.rule = std::make_shared<const AttentionRule>(std::move(rule));
    return out;
}

std::string model_name(const TraceReader& in, const ModelConfig& config) {
    const auto found = in.file.metadata.find("model");
    const std::string name = found == in.file.metadata.end() ? "model" : printable(shortened(found->second));
    return config.family_name == "dossier" ? name : name + " (trace)";  // a dossier is not a recorded run
}

Result<std::shared_ptr<Model>> recorded_model(const TraceReader& in) {
    const auto format = in.file.metadata.find("format");
    if (format == in.file.metadata.end() || format->second != "headlight-trace")
        return in.error(
            "it is not a trace of Headlight; record one with 'headlight trace' or models/capture_trace.py.");
    if (const auto version = in.file.metadata.find("version");
        version != in.file.metadata.end() && version->second != "1")
        return in.error("a newer version of Headlight recorded it; open it with that one.");
    auto model = std::make_shared<Model>();
    TRY(model->config, in.config());
    model->name = model_name(in, model->config);
    if (in.file.file)  // so that check_unchanged() of the model covers the trace's file
        *model->store = WeightStore::of_files({{in.file.file, {}}}, in.name, false);
    return model;
}

/// Returns whether the run was under the model's own mask and no changes, so that q and k give its patterns.
bool has_own_mask(const TraceReader& in) {
    const auto mask = in.file.metadata.find("mask");
    return (mask == in.file.metadata.end() || mask->second == "own") && !in.file.metadata.count("changes");
}

/// Returns whether every block's patterns follow from its recorded q and k.
bool records_q_and_k(const TraceReader& in, const ModelConfig& c) {
    for (int block = 0; block < c.blocks(); ++block)
        if (!in.find(tensors_at(c, block) + "hook_q") || !in.find(tensors_at(c, block) + "hook_k"))
            return false;
    return true;
}

/// Describes what the file holds besides the model and the tokens.
struct Recorded {
    bool own_mask;
    ScoreParameters parameters;
    std::vector<Change> changes;
};

Result<std::shared_ptr<StackActivations>> read_stack_activations(const TraceReader& in, const Trace& t,
                                                                 int stack, const Recorded& recorded) {
    const ModelConfig& c = t.model->config;
    auto activations = std::make_shared<StackActivations>();
    for (int layer = 0; layer < c.stacks[stack].depth(); ++layer) {
        if (stopped(in.cancel)) return cancelled();
        auto one = std::make_shared<LayerActivations>();
        for (const int block : c.blocks_of(stack, layer)) {
            TRY(auto attention,
                read_attention(in, t, block, recorded.parameters, recorded.own_mask, recorded.changes));
            (c.block(block).is_second() ? one->second : one->self) = std::move(attention);
        }
        note_changes(recorded.changes, c.blocks_of(stack, layer).front(), t.request.inputs[stack].size(),
                     one->changed);
        activations->layers.push_back(std::move(one));
    }
    return activations;
}

/// Leaves of a block's sizes the number of its heads.
void leave_heads(AttentionSpec& spec) {
    spec.d_head = 1;
    spec.d_value = 0;
    spec.kv_heads = spec.heads;
}

Result<std::shared_ptr<const Trace>> build(const TraceReader& in) {
    TRY(const std::shared_ptr<Model> model, recorded_model(in));
    Trace t;
    t.model = model;
    for (size_t stack = 0; stack < model->config.stacks.size(); ++stack) {
        TRY(Sequence s, in.sequence(stack == 0 ? "" : "decoder_"));
        t.request.inputs.push_back(std::move(s));
    }
    Recorded recorded{has_own_mask(in), {}, {}};
    TRY(recorded.changes, recorded_changes(in, model->config));
    TRY(recorded.parameters, read_score_parameters(in, model->config));
    if (!recorded.own_mask || !records_q_and_k(in, model->config)) recorded.parameters.scale.clear();
    if (recorded.parameters.scale.empty()) {  // recorded patterns need no q and k: minimal placeholders
        for (StackConfig& s : model->config.stacks)
            for (LayerSpec& layer : s.layers) {
                leave_heads(layer.attention);
                if (layer.second) leave_heads(*layer.second);
            }
    }
    for (int stack = 0; stack < isize(model->config.stacks); ++stack) {
        TRY(auto activations, read_stack_activations(in, t, stack, recorded));
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
