// Writes trace files: one row per kind of tensor, with its name, its shape and how to write it.
#include "trace/trace_file.h"

#include "base/cast.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "io/json.h"
#include "io/safetensors.h"

namespace headlight {

namespace {

using Sink = std::function<void(const void*, size_t)>;

void write_matrix(const Sink& sink, const Matrix& m) { sink(m.data(), m.size() * sizeof(float)); }

void write_rows(const Sink& sink, const Rows& m) {
    for (Index i = 0; i < m.rows(); i += kBlockRows)
        write_matrix(sink, m.middleRows(i, std::min(kBlockRows, m.rows() - i)));
}

struct TraceTensor {
    TensorToWrite tensor;
    bool usual;
};

/// Names what a block adds to the stream.
const char* added_name(AttentionKind kind) {
    return kind == AttentionKind::cross    ? "hook_cross_attn_out"
           : kind == AttentionKind::beside ? "hook_mamba_out"
                                           : "hook_attn_out";
}

/// [keys, heads of keys · d_head]: keys of a recurrence, without their rates.
Matrix keys_without_rates(const Trace& trace, int block) {
    const Index d = trace.config().d_head(block), heads = trace.rule(block).key_heads();
    Matrix out(trace.key_count(block), heads * d);
    for (int h = 0; h < heads; ++h) out.middleCols(h * d, d) = trace.k(block, h).all();
    return out;
}

/// Lists the tensors that a file may hold, in the order in which they are written.
class TraceTensors {
public:
    TraceTensors(const Trace& trace, ThreadPool& pool) : t_(trace), pool_(pool) {
        const ModelConfig& c = t_.config();
        for (size_t s = 0; s < c.stacks.size(); ++s)
            if (c.stacks[s].vocab) ids(s == 0 ? "input_ids" : "decoder_input_ids", t_.request.inputs[s]);
        for (int block = 0; block < c.blocks(); ++block) attention(block);
        for (int s = 0; s + 1 < isize(c.stacks); ++s)
            whole(c.stacks[s].name + ".ln_final.hook_normalized", t_.stack(s).normalized, true);
        whole("ln_final.hook_normalized", t_.normalized(), true);
        if (t_.model->has_logits()) logits();
    }
    std::vector<TraceTensor>& list() { return out_; }

private:
    void ids(const char* name, const Sequence& sequence) {
        out_.push_back({{name,
                         "I64",
                         {sequence.size()},
                         [&sequence](const Sink& s) {
                             for (const int64_t id : sequence.ids) s(&id, sizeof id);
                         }},
                        true});
    }
    void whole(const std::string& name, const Rows& m, bool usual) {
        out_.push_back(
            {{name, "F32", {m.rows(), m.cols()}, [m](const Sink& s) { write_rows(s, m); }}, usual});
    }
    /// Adds a tensor that is computed when it is written.
    void computed(const std::string& name, std::vector<int64_t> shape, bool usual,
                  std::function<Matrix()> make) {
        out_.push_back({{name, "F32", std::move(shape),
                         [make = std::move(make)](const Sink& s) { write_matrix(s, make()); }},
                        usual});
    }
    void by_head(const std::string& name, const Rows& m, int width) {
        out_.push_back(
            {{name, "F32", {m.rows(), m.cols() / width, width}, [&m](const Sink& s) { write_rows(s, m); }},
             false});
    }
    void by_cell(const std::string& name, int block, Matrix (Trace::*get)(int, int) const, bool usual) {
        const Trace& t = t_;
        const int heads = t.config().heads(block);
        const auto write = [&t, block, heads, get](const Sink& s) {
            for (int h = 0; h < heads; ++h) write_matrix(s, (t.*get)(block, h));
        };
        out_.push_back({{name, "F32", {heads, t.query_count(block), t.key_count(block)}, write}, usual});
    }
    void attention(int block) {
        const AttentionBlock where = t_.config().block(block);
        const AttentionActivations& a = t_.attention(block);
        const bool second = where.is_second();
        const std::string at = t_.config().stacks[where.stack].name + "." + std::to_string(where.layer) + ".",
                          in = tensors_at(t_.config(), block);
        if (!second) whole(at + "hook_resid_pre", t_.stack(where.stack).layers[where.layer]->resid_pre, true);
        const int d_head = t_.config().d_head(block), d_value = t_.config().d_value(block);
        by_head(in + "hook_q", a.q, d_head);
        if (t_.rule(block).is_softmax())
            by_head(in + "hook_k", a.k, d_head);
        else
            computed(in + "hook_k", {a.k.rows(), t_.rule(block).key_heads(), d_head}, false,
                     [&t = t_, block] { return keys_without_rates(t, block); });
        by_head(in + "hook_v", a.v, d_value);
        if (t_.has_scores(block)) by_cell(in + "hook_attn_scores", block, &Trace::scores, false);
        by_cell(in + "hook_pattern", block, &Trace::pattern, true);
        const int n = t_.query_count(block);
        computed(in + "hook_z", {n, t_.config().heads(block), d_value}, false,
                 [&t = t_, &pool = pool_, block, n] { return t.z(block, 0, n, pool); });
        const std::vector<int64_t> added{n, t_.config().d_model};
        if (t_.weights(block).post_norm)
            computed(in + "hook_proj_out", added, true,
                     [&t = t_, &pool = pool_, block, n] { return t.proj_out(block, 0, n, pool); });
        computed(at + added_name(where.kind), added, true,
                 [&t = t_, &pool = pool_, block] { return t.attn_out(block, pool); });
        if (block == t_.config().blocks_of(where.stack, where.layer).back()) mlp(at, where, added);
        if (!second) whole(at + "hook_resid_post", t_.resid_post(where.stack, where.layer), true);
    }
    /// Adds the tensors around a layer's MLP; a parallel model has none between attention and MLP.
    void mlp(const std::string& at, const AttentionBlock& where, const std::vector<int64_t>& shape) {
        const auto make = [&](const char* name, Matrix (Trace::*get)(int, int, ThreadPool&) const) {
            computed(at + name, shape, false, [&t = t_, &pool = pool_, where, get] {
                return (t.*get)(where.stack, where.layer, pool);
            });
        };
        if (!t_.config().stacks[where.stack].layers[where.layer].parallel)
            make("hook_resid_mid", &Trace::resid_mid);
        make("hook_mlp_out", &Trace::mlp_out);
    }
    /// [pos, vocab]; [class] for a vision model, whose class token alone predicts.
    void logits() {
        const Trace& t = t_;
        ThreadPool& pool = pool_;
        const int64_t classes = t.config().vocab;
        if (t.config().can.read_image) {
            out_.push_back({{"logits",
                             "F32",
                             {classes},
                             [&t, &pool](const Sink& s) {
                                 write_matrix(s, unembed(*t.model, t.normalized().topRows(1), pool));
                             }},
                            true});
            return;
        }
        out_.push_back(
            {{"logits",
              "F32",
              {t.output().size(), classes},
              [&t, &pool](const Sink& s) {
                  constexpr Index rows = 64;
                  const Rows& x = t.normalized();
                  for (Index first = 0; first < x.rows(); first += rows)
                      write_matrix(
                          s, unembed(*t.model, x.middleRows(first, std::min(rows, x.rows() - first)), pool));
              }},
             true});
    }

    const Trace& t_;
    ThreadPool& pool_;
    std::vector<TraceTensor> out_;
};

using Attentions = std::vector<const AttentionSpec*>;

/// Lists which blocks mix tokens by a recurrence; empty if none does.
std::vector<int> recurrent_of(const Attentions& layers) {
    std::vector<int> out;
    for (const AttentionSpec* layer : layers) out.push_back(layer->recurrence.has_value());
    return contains(out, 1) ? out : std::vector<int>();
}

/// Lists a size of each layer's attention; one number if all are equal.
Json of_layers(const Attentions& layers, int AttentionSpec::*size) {
    std::vector<int> sizes;
    for (const AttentionSpec* layer : layers) sizes.push_back(layer->*size);
    const bool equal = std::all_of(sizes.begin(), sizes.end(), [&](int s) { return s == sizes[0]; });
    return equal ? Json(sizes[0]) : Json(sizes);
}

/// Lists a size that 0 stands for none of; empty if no layer has one.
std::vector<int> some_of_layers(const Attentions& layers, int AttentionSpec::*size) {
    std::vector<int> sizes;
    for (const AttentionSpec* layer : layers) sizes.push_back(layer->*size);
    const bool none = std::all_of(sizes.begin(), sizes.end(), [](int s) { return s == 0; });
    return none ? std::vector<int>() : sizes;
}

/// Describes the blocks of a stack's layers: their attention, or the mixers beside it.
Json blocks_json(const Attentions& layers) {
    Json out{{"heads", of_layers(layers, &AttentionSpec::heads)},
             {"kv_heads", of_layers(layers, &AttentionSpec::kv_heads)},
             {"d_head", of_layers(layers, &AttentionSpec::d_head)},
             {"windows", some_of_layers(layers, &AttentionSpec::window)},
             {"chunks", some_of_layers(layers, &AttentionSpec::chunk)}};
    if (!some_of_layers(layers, &AttentionSpec::d_value).empty())
        out["d_value"] = of_layers(layers, &AttentionSpec::d_value);
    if (const auto recurrent = recurrent_of(layers); !recurrent.empty()) out["recurrent"] = recurrent;
    return out;
}

/// Describes the model as far as views need it.
std::string config_text(const ModelConfig& c) {
    constexpr const char* kKinds[] = {"decoder", "encoder", "encoder_decoder", "vision"};
    Json stacks = Json::array();
    for (const StackConfig& s : c.stacks) {
        Attentions first, second;
        for (const LayerSpec& layer : s.layers) {
            first.push_back(&layer.attention);
            if (s.beside()) second.push_back(&*layer.second);
        }
        Json one = blocks_json(first);
        one.update({{"name", s.name}, {"layers", s.depth()}, {"causal", s.causal}, {"cross", s.cross()}});
        if (s.beside()) one["beside"] = blocks_json(second);
        stacks.push_back(std::move(one));
    }
    return json_text(Json{{"kind", row_of(kKinds, c.kind)},
                          {"family", c.family_name},
                          {"d_model", c.d_model},
                          {"stacks", std::move(stacks)}});
}

/// Spells tokens as shown to users, with the space before a word.
std::string labels_text(const Trace& trace, int stack) {
    const Model& m = *trace.model;
    const Sequence& s = trace.request.inputs[stack];
    std::vector<std::string> labels = s.tokens;
    for (size_t i = 0; m.tokenizer && i < labels.size(); ++i) {
        if (s.picture && s.picture->grid.has(narrow<int>(i))) continue;
        const std::string bytes = (stack == 0 ? **m.tokenizer : *m.target_tokenizer()).bytes(s.ids[i]);
        if (is_valid_utf8(bytes)) labels[i] = bytes;
    }
    return json_text(Json(labels));
}

/// Describes how q and k give patterns by a scale, a soft cap and sinks; else "": patterns must be recorded.
std::string attention_text(const Trace& trace) {
    if (trace.request.intervention != Intervention{}) return "";
    std::vector<float> scales;
    Json sinks = Json::array();  // of each block's heads
    bool any = false;
    for (int block = 0; block < trace.config().blocks(); ++block) {
        const AttentionRule& rule = trace.rule(block);
        if (rule.has_bias() || !rule.is_softmax() || rule.cap != trace.rule(0).cap) return "";
        scales.push_back(rule.scale);
        sinks.push_back(rule.sinks);
        any = any || !rule.sinks.empty();
    }
    Json out{{"scale", scales}, {"cap", trace.rule(0).cap}};
    if (any) out["sinks"] = sinks;
    return json_text(out);
}

}  // namespace

std::string tensors_at(const ModelConfig& c, int block) {
    const AttentionBlock where = c.block(block);
    return c.stacks[where.stack].name + "." + std::to_string(where.layer) +
           (where.kind == AttentionKind::cross    ? ".cross_attn."
            : where.kind == AttentionKind::beside ? ".mamba."
                                                  : ".attn.");
}

bool glob_match(std::string_view glob, std::string_view name) {
    size_t g = 0, n = 0, star = std::string_view::npos, resume = 0;
    while (n < name.size()) {
        if (g < glob.size() && (glob[g] == '?' || glob[g] == name[n])) {
            ++g;
            ++n;
        } else if (g < glob.size() && glob[g] == '*') {
            star = g++;
            resume = n;
        } else if (star != std::string_view::npos) {
            g = star + 1;
            n = ++resume;
        } else {
            return false;
        }
    }
    while (g < glob.size() && glob[g] == '*') ++g;
    return g == glob.size();
}

namespace {

/// Stores floats in sixteen bits. Throws a Failure at a number that they do not hold.
TensorToWrite halved(TensorToWrite tensor) {
    if (tensor.dtype != "F32") return tensor;
    tensor.dtype = "F16";
    tensor.write = [name = tensor.name, write = std::move(tensor.write)](const Sink& sink) {
        std::vector<Eigen::half> out;
        write([&](const void* data, size_t bytes) {
            const auto* floats = static_cast<const float*>(data);
            out.clear();
            for (size_t i = 0; i < bytes / sizeof(float); ++i) {
                out.emplace_back(floats[i]);
                if (!(Eigen::numext::isfinite)(out.back()))
                    throw Failure(Error{name + " holds " + decimals(double(floats[i]), 0) +
                                        ", which is too large for f16; write the trace as f32."});
            }
            sink(out.data(), out.size() * sizeof(Eigen::half));
        });
    };
    return tensor;
}

}  // namespace

Status write_trace(const std::filesystem::path& path, const Trace& trace,
                   const std::vector<std::string>& globs, ThreadPool& pool, TraceFloats floats) {
    std::vector<TensorToWrite> chosen;
    TraceTensors tensors(trace, pool);
    for (TraceTensor& tensor : tensors.list()) {
        bool wanted = globs.empty() && tensor.usual;
        for (const auto& glob : globs) wanted = wanted || glob_match(glob, tensor.tensor.name);
        if (!wanted) continue;
        chosen.push_back(floats == TraceFloats::f16 ? halved(std::move(tensor.tensor))
                                                    : std::move(tensor.tensor));
    }
    if (chosen.empty())
        return Error{"No tensor matches --capture " + in_quotes(globs.front()) +
                     "; try \"*\" to write all of them."};
    std::map<std::string, std::string> metadata{{"format", "headlight-trace"},
                                                {"version", "1"},
                                                {"model", trace.model->name},
                                                {"tokens", json_text(Json(trace.request.inputs[0].tokens))},
                                                {"mask", trace.request.intervention.mask.name()}};
    std::vector<std::string> changes;
    for (const Change& change : trace.request.intervention.changes)
        changes.push_back(change_name(trace.config(), change));
    if (!changes.empty()) metadata["changes"] = json_text(Json(changes));
    metadata["config"] = config_text(trace.config());
    metadata["labels"] = labels_text(trace, 0);
    if (trace.request.inputs.size() > 1) metadata["decoder_labels"] = labels_text(trace, 1);
    if (const std::string how = attention_text(trace); !how.empty()) metadata["attention"] = how;
    if (trace.request.inputs.size() > 1)
        metadata["decoder_tokens"] = json_text(Json(trace.request.inputs[1].tokens));
    return write_safetensors(path, chosen, metadata, [&] { return trace.model->store->check_unchanged(); });
}

}  // namespace headlight
