#include "analysis/patching/explanation.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "analysis/attention/head_stats.h"
#include "analysis/corpus/similar_prompts.h"
#include "analysis/patching/effects.h"
#include "base/cast.h"
#include "base/pace.h"
#include "model/input.h"

namespace headlight {

namespace {

constexpr float kUnmeasured = std::numeric_limits<float>::quiet_NaN();
constexpr int kTogether = 16;       // heads, between two reports
constexpr int kSenders = 8;         // heads without a strong direct effect that may send into the circuit
constexpr int kMaxFromTokens = 32;  // tokens whose path into a head is measured
constexpr float kStep = 0.1f;       // that the automatic edges_from is rounded to

enum StageNumber { kWords, kDirect, kAblated, kPaths, kFromTokens, kChecks, kOthers };

class Explainer {
public:
    Explainer(const Trace& clean, ThreadPool& pool, const CancelFlag* cancel,
              const std::function<void(const Explanation&)>& seen)
        : clean_(clean), config_(clean.config()), pool_(pool), cancel_(cancel), seen_(seen) {}

    Result<Explanation> run(const ExplanationRequest& request) {
        TRY_STATUS(begin(request));
        TRY_STATUS(ended(kWords, leave_words_out()));
        TRY_STATUS(ended(kDirect, measure_direct()));
        TRY_STATUS(ended(kAblated, measure_ablations()));
        choose_heads();
        TRY_STATUS(ended(kPaths, measure_paths()));
        TRY_STATUS(ended(kFromTokens, measure_tokens()));
        TRY_STATUS(ended(kChecks, check_circuit()));
        TRY_STATUS(ended(kOthers, test_others()));
        return std::move(out_);
    }

private:
    Status begin(const ExplanationRequest& request) {
        out_.asked = request;
        TRY(out_.metric, resolved(in_logits(request.metric), clean_, pool_));
        cuts_.emplace(clean_, out_.metric, pool_, cancel_);
        out_.clean = cuts_->clean_values();
        out_.direct = out_.ablated = PerHead<float>(config_, kUnmeasured);
        const int heads = config_.head_count();
        out_.stages = {{"Words, each left out"},
                       {"Straight to the answer", 0, heads},
                       {"Heads, each ablated", 0, heads},
                       {"Paths between heads"},
                       {"Paths from words"},
                       {"Alone and left out", 0, 2},
                       {"Other sentences"}};
        return success();
    }

    Status ended(StageNumber stage, Status done) {
        if (done) out_.stages[stage].ended = true;
        return done;
    }

    void report(StageNumber stage, int steps) {
        out_.stages[stage].done += steps;
        if (seen_) seen_(out_);
    }

    /// Where tokens cannot be left out, the rest is measured all the same.
    Status leave_words_out() {
        const Metric metrics[] = {out_.metric};
        const auto seen = [&](const LeaveOutRuns& runs) {
            out_.stages[kWords].count = runs.all;
            const int before = isize(out_.words);
            for (size_t i = out_.words.size(); i < runs.found.size(); ++i) {
                const LeftOut& one = runs.found[i];
                out_.words.push_back({one.stack, one.part.first, runs.before.value - one.without.value});
            }
            report(kWords, isize(out_.words) - before);
        };
        const auto runs = leave_out(clean_, nullptr, {metrics}, pool_, cancel_, seen);
        if (runs) return success();
        if (runs.error().cancelled) return runs.error();
        out_.words_refusal = runs.error().message;
        return success();
    }

    Status measure_direct() {
        for (int first = 0; first < config_.head_count(); first += kTogether) {
            std::vector<AttentionHead> some;
            for (int i = first; i < std::min(first + kTogether, config_.head_count()); ++i)
                some.push_back(config_.head_at(i));
            TRY(const auto effects, cuts_->direct_effects(some));
            for (size_t i = 0; i < some.size(); ++i) out_.direct[some[i]] = effects[i];
            report(kDirect, isize(some));
        }
        const float largest = std::abs(out_.direct[order_by_size(out_.direct.values()).front()]);
        out_.edges_from =
            out_.asked.edges_from > 0
                ? out_.asked.edges_from
                : std::max(kStep, kStep * std::round(Explanation::kShareOfLargest * largest / kStep));
        return success();
    }

    Status measure_ablations() {
        const auto seen = [&](int done, const HeadEffects& effects) {
            for (size_t i = 0; i < effects.change.size(); ++i) out_.ablated[i] = -effects.change[i];
            report(kAblated, done - out_.stages[kAblated].done);
        };
        TRY_STATUS(head_effects(clean_, nullptr, out_.metric, pool_, cancel_, seen));
        return success();
    }

    /// Takes the strongest direct effects, and notes the heads that may send into them.
    void choose_heads() {
        for (const int i : order_by_size(out_.direct.values()))
            if (std::abs(out_.direct[i]) >= out_.edges_from && isize(out_.heads) < out_.asked.max_heads)
                out_.heads.push_back(config_.head_at(i));
        for (const AttentionHead head : out_.heads)
            out_.edges.push_back({.from = head, .to_answer = true, .effect = out_.direct[head]});
        for (const int i : order_by_size(out_.ablated.values())) {
            const AttentionHead head = config_.head_at(i);
            if (isize(senders_) < kSenders && !contains(out_.heads, head)) senders_.push_back(head);
        }
        std::sort(out_.heads.begin(), out_.heads.end());
        for (const AttentionHead head : out_.heads)
            for (const PathReceiver& to : receivers_of(head))
                out_.waiting.push_back({.from = head, .to = to.head, .effect = kUnmeasured});
    }

    std::vector<PathReceiver> receivers_of(AttentionHead sender) const {
        std::vector<PathReceiver> out;
        for (const AttentionHead head : out_.heads)
            if (reads_later(config_, sender, head)) out.push_back({head});
        return out;
    }

    Status measure_paths() {
        std::vector<AttentionHead> all = out_.heads;
        all.insert(all.end(), senders_.begin(), senders_.end());
        for (const AttentionHead head : all) out_.stages[kPaths].count += isize(receivers_of(head));
        std::vector<AttentionHead> joining;
        for (const AttentionHead sender : all) {
            const auto receivers = receivers_of(sender);
            if (receivers.empty()) continue;
            TRY(const auto effects, cuts_->effects_through(sender, receivers));
            const bool is_new = !contains(out_.heads, sender);
            const float strongest = std::abs(effects[order_by_size(effects).front()]);
            const bool joins = is_new && strongest >= out_.edges_from &&
                               isize(out_.heads) + isize(joining) < out_.asked.max_heads;
            if (joins) joining.push_back(sender);
            if (joins || !is_new) TRY_STATUS(add_edges(sender, receivers, effects));
            std::erase_if(out_.waiting, [&](const PathEdge& edge) { return edge.from == sender; });
            report(kPaths, isize(receivers));
        }
        out_.heads.insert(out_.heads.end(), joining.begin(), joining.end());
        std::sort(out_.heads.begin(), out_.heads.end());
        return success();
    }

    Status add_edges(AttentionHead sender, const std::vector<PathReceiver>& receivers,
                     const std::vector<float>& effects) {
        std::vector<PathEdge> edges;
        for (size_t i = 0; i < receivers.size(); ++i)
            if (!is_too_weak(effects[i]))
                edges.push_back({.from = sender, .to = receivers[i].head, .effect = effects[i]});
        TRY_STATUS(split(sender, edges));
        for (const PathEdge& edge : edges) add(edge);
        return success();
    }

    bool is_too_weak(float effect) const {
        return !(std::abs(effect) >= Explanation::kFaint * out_.edges_from);
    }

    /// Measures the solid edges of a sender by what each receiver reads.
    Status split(AttentionHead sender, std::vector<PathEdge>& edges) {
        std::vector<PathReceiver> parts;
        for (const PathEdge& edge : edges)
            if (out_.is_solid(edge))
                for (const ReadPart part : {ReadPart::queries, ReadPart::keys, ReadPart::values})
                    parts.push_back({edge.to, part});
        if (parts.empty()) return success();
        TRY(const auto effects, cuts_->effects_through(sender, parts));
        const float* next = effects.data();
        for (PathEdge& edge : edges) {
            if (!out_.is_solid(edge)) continue;
            edge.by_queries = *next++;
            edge.by_keys = *next++;
            edge.by_values = *next++;
        }
        return success();
    }

    void add(PathEdge edge) {
        const auto after = std::find_if(out_.edges.begin(), out_.edges.end(), [&](const PathEdge& other) {
            return std::abs(other.effect) < std::abs(edge.effect);
        });
        out_.edges.insert(after, edge);
    }

    /// The tokens that a head attends to most, by the largest weight that a query gives them.
    std::vector<int> tokens_of(AttentionHead head) const {
        const int keys = clean_.key_count(head.block);
        if (keys <= kMaxFromTokens) {
            std::vector<int> all(keys);
            std::iota(all.begin(), all.end(), 0);
            return all;
        }
        std::vector<float> largest(keys, 0.0f);
        for (int q = 0; q < clean_.query_count(head.block); ++q) {
            const Matrix row = clean_.pattern_rows(head.block, head.head, q, 1);
            for (int k = 0; k < keys; ++k) largest[k] = std::max(largest[k], row(0, k));
        }
        std::vector<int> out = order_by_size(largest);
        out.resize(kMaxFromTokens);
        return out;
    }

    Status measure_tokens() {
        std::vector<std::vector<TokenPath>> paths;
        for (const AttentionHead head : out_.heads) {
            auto& own = paths.emplace_back();
            for (const int token : tokens_of(head)) own.push_back({token, head});
            out_.stages[kFromTokens].count += isize(own);
        }
        for (const auto& own : paths) {
            TRY(const auto effects, cuts_->token_effects(own));
            for (size_t i = 0; i < own.size(); ++i)
                if (!is_too_weak(effects[i]))
                    add({.token = own[i].token, .to = own[i].head, .effect = effects[i]});
            report(kFromTokens, isize(own));
        }
        return success();
    }

    Status check_circuit() {
        for (const Ablate which : {Ablate::others, Ablate::listed}) {
            TRY((which == Ablate::others ? out_.only : out_.without),
                cuts_->without_heads(out_.heads, which));
            report(kChecks, 1);
        }
        return success();
    }

    /// Where no sentences like this one can be made, the rest stands all the same.
    Status test_others() {
        if (out_.asked.sentences == 0 || out_.heads.empty()) return success();
        if (clean_.request.intervention != Intervention{}) {
            out_.others_refusal = "Other sentences are tested without interventions.";
            return success();
        }
        auto like = similar_prompts(clean_, out_.metric, pool_);
        if (!like) {
            out_.others_refusal = like.error().message;
            return success();
        }
        out_.like = std::move(*like);
        const auto prompts = fill_prompts(out_.like, out_.asked.sentences, 0);
        out_.stages[kOthers].count = isize(prompts);
        for (const FilledPrompt& prompt : prompts) {
            auto other = tested(prompt);
            if (!other && other.error().cancelled) return other.error();
            if (other) out_.others.push_back(std::move(*other));
            report(kOthers, 1);
        }
        return success();
    }

    Result<OtherSentence> tested(const FilledPrompt& prompt) {
        TextInput typed;
        typed.text = prompt.text;
        TRY(ModelInput input, encode_input(*clean_.model, typed));
        TRY(const auto trace, run_trace(clean_.model, {std::move(input.sequences), {}}, pool_, cancel_));
        OtherSentence out{prompt.text, {}, {}, {}, {}, {}};
        TRY(const Metric metric, parse_metric(*clean_.model, prompt.metric, trace.get()));
        TRY(out.metric, resolved(in_logits(metric), *trace, pool_));
        PathCuts cuts(*trace, out.metric, pool_, cancel_);
        out.clean = cuts.clean_values();
        TRY(out.only, cuts.without_heads(out_.heads, Ablate::others));
        TRY(out.without, cuts.without_heads(out_.heads, Ablate::listed));
        TRY(out.effects, cuts.direct_effects(out_.heads));
        for (size_t i = 0; i < out_.heads.size(); ++i) {
            TRY(const MetricValues ablated, cuts.without_heads({&out_.heads[i], 1}, Ablate::listed));
            const float effect = out.clean.value - ablated.value;
            if (std::abs(effect) > std::abs(out.effects[i])) out.effects[i] = effect;
        }
        return out;
    }

    const Trace& clean_;
    const ModelConfig& config_;
    ThreadPool& pool_;
    const CancelFlag* cancel_;
    const std::function<void(const Explanation&)>& seen_;
    Explanation out_;
    std::optional<PathCuts> cuts_;  // once the metric is resolved
    std::vector<AttentionHead> senders_;
};

}  // namespace

Metric in_logits(Metric metric) {
    if (metric.kind != MetricKind::difference) metric.kind = MetricKind::logit;
    return metric;
}

bool Explanation::whole() const {
    return !stages.empty() &&
           std::all_of(stages.begin(), stages.end(), [](const Stage& s) { return s.ended; });
}

bool Explanation::checked() const { return stages.size() > kChecks && stages[kChecks].ended; }

int Explanation::still_matters(size_t head) const {
    return int(std::count_if(others.begin(), others.end(), [&](const OtherSentence& other) {
        return std::abs(other.effects[head]) >= edges_from / 2;
    }));
}

Result<Explanation> explain(const Trace& clean, const ExplanationRequest& request, ThreadPool& pool,
                            const CancelFlag* cancel, const std::function<void(const Explanation&)>& seen) {
    return guarded([&] { return Explainer(clean, pool, cancel, seen).run(request); });
}

Result<ExplanationFound> measure_explanation(const Runs& runs, const ExplanationRequest& request,
                                             ThreadPool& pool, const CancelFlag* cancel,
                                             const std::function<void(ExplanationFound)>& seen) {
    Pace pace;
    TRY(Explanation found, explain(runs.shown, request, pool, cancel, [&](const Explanation& now) {
            if (seen && pace.is_due()) seen({std::make_shared<const Explanation>(now), ""});
        }));
    return ExplanationFound{std::make_shared<const Explanation>(std::move(found)), ""};
}

}  // namespace headlight
