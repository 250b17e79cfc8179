// Builds traces from a server's tensors.
#include "engine/remote_trace.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/memory.h"
#include "model/interventions/rules.h"
#include "trace/trace_file.h"

namespace headlight {

namespace {

/// Bounds ‖q‖ · scale and ‖k‖, so that no score overflows: |q · k| ≤ ‖q‖ ‖k‖.
constexpr double kLongestVector = 1e18;

Status check_lengths(const Matrix& rows, double scale, const std::string& name) {
    if (rows.size() == 0 ||
        std::sqrt(rows.cast<double>().rowwise().squaredNorm().maxCoeff()) * scale < kLongestVector)
        return success();
    return Error{"The vectors of " + name +
                 " are so long that their scores are infinite; load the model in another dtype, float32 for "
                 "example."};
}

/// Reads what one answer says about one block.
class BlockReader {
public:
    BlockReader(const Trace& trace, const Frame& sent, int block, int kept, const Trace* past)
        : trace_(trace),
          sent_(sent),
          block_(block),
          kept_(kept),
          past_(kept > 0 ? past : nullptr),
          at_(tensors_at(trace.config(), block)) {}

    /// Fills a block's q, k and rule; `own` is what the user's changes make of the model's.
    Result<AttentionActivations> read(const AttentionRule& own, const EngineRule& says) {
        AttentionRule rule = own;
        rule.scale = says.scale;
        rule.cap = says.cap;
        AttentionActivations out;
        const AttentionSpec& spec = trace_.config().attention(block_);
        if (says.says) {
            TRY_STATUS(read_additions(rule));
            TRY(out.q, rows("hook_q", trace_.query_count(block_), Index{spec.heads} * spec.d_head,
                            std::max(1.0, std::abs(double(says.scale))), &AttentionActivations::q));
            TRY(out.k, rows("hook_k", trace_.key_count(block_), Index{spec.kv_heads} * spec.d_head, 1.0,
                            &AttentionActivations::k));
        } else {
            TRY_STATUS(read_patterns(rule));
            out.q = Matrix::Zero(trace_.query_count(block_), Index{spec.heads} * spec.d_head);
            out.k = Matrix::Zero(trace_.key_count(block_), Index{spec.kv_heads} * spec.d_head);
        }
        out.rule = std::make_shared<const AttentionRule>(std::move(rule));
        return out;
    }

private:
    /// Reads rows from `kept` on and puts them behind those of the past.
    Result<Rows> rows(const std::string& name, int count, Index width, double scale,
                      Rows AttentionActivations::*held) {
        TRY(Matrix added, frame_matrix(sent_, at_ + name, count - kept_, width));
        TRY_STATUS(check_lengths(added, scale, at_ + name));
        return past_ ? Rows(past_->attention(block_).*held, kept_, std::move(added)) : Rows(std::move(added));
    }
    /// Reads the sinks and the bias by distance, if the block has them.
    Status read_additions(AttentionRule& rule) {
        if (sent_.find(at_ + "sinks")) {
            TRY(const Matrix sinks, frame_matrix(sent_, at_ + "sinks", rule.heads, 1));
            rule.sinks.assign(sinks.data(), sinks.data() + sinks.size());
        }
        const StoredTensor* bias = sent_.find(at_ + "bias");
        const int n = trace_.query_count(block_);
        if (!bias) return success();
        if (trace_.config().block(block_).kind == AttentionKind::cross)
            return of_other_version("The server sends a bias of distances for " + at_ +
                                    ", which reads another text");
        const int64_t columns = 2 * int64_t{n} - 1 - kept_;  // later keys of earlier queries are not seen
        TRY(const Matrix table, frame_matrix(sent_, at_ + "bias", rule.heads, columns));
        rule.bias.by_distance = Matrix::Zero(rule.heads, 2 * Index{n} - 1);
        rule.bias.by_distance.leftCols(columns) = table;
        rule.bias.positions.clear();
        return success();
    }
    Status read_patterns(AttentionRule& rule) {
        const int queries = trace_.query_count(block_), keys = trace_.key_count(block_);
        check_fits(int64_t{rule.heads} * queries * keys * int64_t{sizeof(float)});
        TRY(Matrix all, frame_matrix(sent_, at_ + "hook_pattern", rule.heads, int64_t{queries} * keys));
        const auto held = std::make_shared<const Matrix>(std::move(all));
        rule.source = RecordedPatterns{held->data(), queries, keys, held};
        rule.sinks.clear();
        return success();
    }

    const Trace& trace_;
    const Frame& sent_;
    const int block_, kept_;
    const Trace* past_;
    const std::string at_;
};

/// Reads the residual stream of one stack, where the server knows it.
struct StreamReader {
    const Trace& trace;
    const Frame& sent;
    int stack, kept;
    const Trace* past;

    /// [n, d_model] as a layer reads it, or none.
    Result<Rows> rows_of(int layer) const {
        return rows(name(layer) + "hook_resid_pre", false,
                    [layer](const StackActivations& s) { return s.layers[size_t(layer)]->resid_pre; });
    }
    /// [n, d_model], what a block adds, or none.
    Result<Rows> added_by(int layer, bool second) const {
        return rows(name(layer) + (second ? "hook_cross_attn_out" : "hook_attn_out"), false,
                    [=](const StackActivations& s) {
                        const LayerActivations& at = *s.layers[size_t(layer)];
                        return (second ? at.second : at.self).out;
                    });
    }
    Result<Rows> added_by_mlp(int layer) const {
        return rows(name(layer) + "hook_mlp_out", false,
                    [layer](const StackActivations& s) { return s.layers[size_t(layer)]->mlp_out; });
    }
    /// [n, d_model] as the last layer leaves it; `predicts`: as the unembedding reads it.
    Result<Rows> last(bool predicts) const {
        const int layer = trace.config().stacks[size_t(stack)].depth() - 1;
        return rows(predicts ? "hook_resid_final" : name(layer) + "hook_resid_post", predicts,
                    [](const StackActivations& s) { return s.resid_final; });
    }

private:
    std::string name(int layer) const {
        return trace.config().stacks[size_t(stack)].name + "." + std::to_string(layer) + ".";
    }
    template <class Held>
    Result<Rows> rows(const std::string& tensor, bool needed, const Held& held) const {
        if (!needed && !sent.find(tensor)) return Rows();
        const int n = trace.request.inputs[size_t(stack)].size();
        TRY(Matrix added, frame_matrix(sent, tensor, n - kept, trace.config().d_model));
        if (kept == 0) return Rows(std::move(added));
        const Rows before = held(past->stack(stack));
        if (before.rows() < kept)
            return Error{"The server sends a part of " + tensor + " alone; start it again."};
        return Rows(before, kept, std::move(added));
    }
};

}  // namespace

std::vector<std::string> asked_tensors(const ModelConfig& config, const std::vector<EngineRule>& rules) {
    constexpr size_t kMaxGlobs = 256;  // of a request
    std::vector<std::string> out;
    for (int block = 0; block < config.blocks(); ++block)
        if (!rules[static_cast<size_t>(block)].says)
            out.push_back(tensors_at(config, block) + "hook_pattern");
    if (isize(out) == config.blocks() || out.size() + 10 > kMaxGlobs) out = {"*hook_pattern"};
    if (std::any_of(rules.begin(), rules.end(), [](const EngineRule& rule) { return rule.says; }))
        out.insert(out.end(), {"*hook_q", "*hook_k"});
    out.insert(out.end(), {"*hook_resid_pre", "*attn_out", "*hook_mlp_out"});
    for (const StackConfig& s : config.stacks)
        out.push_back(s.name + "." + std::to_string(s.depth() - 1) + ".hook_resid_post");
    if (config.vocab > 0) out.emplace_back("hook_resid_final");
    return out;
}

Result<std::vector<EngineRule>> answered_rules(const Json& header, const ModelConfig& config) {
    std::vector<EngineRule> out;
    TRY(const Json rules, json_object(header, "rules", "The server's answer"));
    for (int block = 0; block < config.blocks(); ++block) {
        std::string at = tensors_at(config, block);
        at.pop_back();  // the dot
        const auto rule = rules.find(at);
        if (rule == rules.end())
            return of_other_version("The server does not say how " + at + " makes its patterns");
        TRY(out.emplace_back(), read_engine_rule(*rule));
    }
    return out;
}

Result<std::shared_ptr<const Trace>> remote_trace(const std::shared_ptr<const Model>& model,
                                                  ForwardRequest request, const Frame& sent,
                                                  const std::vector<EngineRule>& rules, int kept,
                                                  const Trace* past, const CancelFlag* cancel) {
    Trace t;
    t.model = model;
    t.request = std::move(request);
    const ModelConfig& c = model->config;
    TRY(const auto own, attention_rules(*model, t.request.inputs, t.request.intervention, cancel));
    for (int stack = 0; stack < isize(c.stacks); ++stack) {
        auto activations = std::make_shared<StackActivations>();
        StreamReader stream{t, sent, stack, kept, past};
        for (int layer = 0; layer < c.stacks[stack].depth(); ++layer) {
            if (stopped(cancel)) return cancelled();
            auto one = std::make_shared<LayerActivations>();
            TRY(one->resid_pre, stream.rows_of(layer));
            TRY(one->mlp_out, stream.added_by_mlp(layer));
            const LayerRules& mine = own[static_cast<size_t>(stack)][static_cast<size_t>(layer)];
            for (const int block : c.blocks_of(stack, layer)) {
                const bool second = c.block(block).is_second();
                BlockReader reader(t, sent, block, kept, past);
                TRY((second ? one->second : one->self),
                    reader.read(second ? *mine.second : *mine.self, rules[static_cast<size_t>(block)]));
                TRY((second ? one->second : one->self).out, stream.added_by(layer, second));
            }
            one->changed = mine.changed;
            activations->layers.push_back(std::move(one));
        }
        const bool predicts = stack + 1 == isize(c.stacks) && model->has_logits();
        TRY(activations->resid_final, stream.last(predicts));
        if (predicts) activations->normalized = activations->resid_final;
        t.activations.stacks.push_back(std::move(activations));
    }
    return std::make_shared<const Trace>(std::move(t));
}

}  // namespace headlight
