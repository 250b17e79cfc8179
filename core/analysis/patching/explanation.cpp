#include "analysis/patching/explanation.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "analysis/patching/effects.h"
#include "base/cast.h"

namespace headlight {

namespace {

constexpr float kUnmeasured = std::numeric_limits<float>::quiet_NaN();
constexpr int kTogether = 16;  // heads, between two reports
constexpr int kSenders = 8;    // heads without a strong direct effect that may send into the circuit
constexpr int kTokens = 32;    // tokens whose path into a head is measured
constexpr float kStep = 0.1f;  // that the automatic edges_from is rounded to

enum StageNumber { kDirect, kAblated, kPaths, kFromTokens, kChecks };

/// Indices of the largest |values|, largest first; NaN last.
std::vector<int> by_size(std::span<const float> values) {
    std::vector<int> out(values.size());
    std::iota(out.begin(), out.end(), 0);
    const auto size = [&](int i) { return std::isnan(values[i]) ? -1 : std::abs(values[i]); };
    std::stable_sort(out.begin(), out.end(), [&](int a, int b) { return size(a) > size(b); });
    return out;
}

class Explainer {
public:
    Explainer(const Trace& clean, ThreadPool& pool, const CancelFlag* cancel,
              const std::function<void(const Explanation&)>& seen)
        : clean_(clean), config_(clean.config()), pool_(pool), cancel_(cancel), seen_(seen) {}

    Result<Explanation> run(const ExplanationRequest& request) {
        TRY_STATUS(begin(request));
        TRY_STATUS(measure_direct());
        TRY_STATUS(measure_ablations());
        choose_heads();
        TRY_STATUS(measure_paths());
        TRY_STATUS(measure_tokens());
        TRY_STATUS(check_circuit());
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
        out_.stages = {{"Straight to the answer", 0, heads},
                       {"Heads ablated", 0, heads},
                       {"Paths between heads"},
                       {"Paths from words"},
                       {"Alone and left out", 0, 2}};
        return success();
    }

    void report(StageNumber stage, int steps) {
        out_.stages[stage].done += steps;
        if (seen_) seen_(out_);
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
        const float largest = std::abs(out_.direct[by_size(out_.direct.values()).front()]);
        out_.edges_from =
            out_.asked.edges_from > 0
                ? out_.asked.edges_from
                : std::max(kStep, kStep * std::round(Explanation::kShareOfLargest * largest / kStep));
        return success();
    }

    Status measure_ablations() {
        const auto seen = [&](int done, const HeadEffects&) {
            report(kAblated, done - out_.stages[kAblated].done);
        };
        TRY(const HeadEffects effects, head_effects(clean_, nullptr, out_.metric, pool_, cancel_, seen));
        for (size_t i = 0; i < effects.change.size(); ++i) out_.ablated[i] = -effects.change[i];
        return success();
    }

    /// Takes the strongest direct effects, and notes the heads that may send into them.
    void choose_heads() {
        for (const int i : by_size(out_.direct.values()))
            if (std::abs(out_.direct[i]) >= out_.edges_from && isize(out_.heads) < out_.asked.max_heads)
                out_.heads.push_back(config_.head_at(i));
        for (const AttentionHead head : out_.heads)
            out_.edges.push_back({.from = head, .to_answer = true, .effect = out_.direct[head]});
        for (const int i : by_size(out_.ablated.values())) {
            const AttentionHead head = config_.head_at(i);
            if (isize(senders_) < kSenders && !contains(out_.heads, head)) senders_.push_back(head);
        }
        std::sort(out_.heads.begin(), out_.heads.end());
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
            const float strongest = std::abs(effects[by_size(effects).front()]);
            const bool joins = is_new && strongest >= out_.edges_from &&
                               isize(out_.heads) + isize(joining) < out_.asked.max_heads;
            if (joins) joining.push_back(sender);
            if (joins || !is_new) TRY_STATUS(add_edges(sender, receivers, effects));
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
        if (keys <= kTokens) {
            std::vector<int> all(keys);
            std::iota(all.begin(), all.end(), 0);
            return all;
        }
        std::vector<float> largest(keys, 0.0f);
        for (int q = 0; q < clean_.query_count(head.block); ++q) {
            const Matrix row = clean_.pattern_rows(head.block, head.head, q, 1);
            for (int k = 0; k < keys; ++k) largest[k] = std::max(largest[k], row(0, k));
        }
        std::vector<int> out = by_size(largest);
        out.resize(kTokens);
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

    const Trace& clean_;
    const ModelConfig& config_;
    ThreadPool& pool_;
    const CancelFlag* cancel_;
    const std::function<void(const Explanation&)>& seen_;
    Explanation out_;
    std::optional<PathCuts> cuts_;  // once the metric is resolved
    std::vector<AttentionHead> senders_;
};

Json values_json(const MetricValues& values) {
    return {{"value", values.value}, {"probability", values.probability}, {"logit", values.logit}};
}

}  // namespace

Metric in_logits(Metric metric) {
    if (metric.kind != MetricKind::difference) metric.kind = MetricKind::logit;
    return metric;
}

bool Explanation::whole() const {
    return !stages.empty() &&
           std::all_of(stages.begin(), stages.end(), [](const Stage& s) { return s.done == s.count; });
}

Result<Explanation> explain(const Trace& clean, const ExplanationRequest& request, ThreadPool& pool,
                            const CancelFlag* cancel, const std::function<void(const Explanation&)>& seen) {
    return guarded([&] { return Explainer(clean, pool, cancel, seen).run(request); });
}

Result<ExplanationFound> answer_explanation(const Runs& runs, const ExplanationRequest& request,
                                            ThreadPool& pool, const CancelFlag* cancel) {
    Result<Explanation> found = explain(runs.shown, request, pool, cancel);
    if (found) return ExplanationFound{std::make_shared<const Explanation>(*std::move(found)), ""};
    if (found.error().cancelled) return found.error();
    return ExplanationFound{nullptr, found.error().message};
}

namespace {

std::string source_name(const PathEdge& edge, const Trace& clean) {
    if (edge.token < 0) return head_name(clean.config(), edge.from);
    const int stack = clean.config().block(edge.to.block).key_stack();
    return token_labels(clean, stack)[size_t(edge.token)] + " " + std::to_string(edge.token);
}

std::string target_name(const PathEdge& edge, const Trace& clean) {
    return edge.to_answer ? "answer" : head_name(clean.config(), edge.to);
}

}  // namespace

std::vector<NumberTable> explanation_numbers(const Explanation& e, const Trace& clean) {
    std::vector<std::string> edges, heads;
    Matrix effects(isize(e.edges), 4), by_head(isize(e.heads), 2);
    for (int i = 0; i < isize(e.edges); ++i) {
        const PathEdge& edge = e.edges[size_t(i)];
        edges.push_back(source_name(edge, clean) + " → " + target_name(edge, clean));
        effects.row(i) << edge.effect, edge.by_queries, edge.by_keys, edge.by_values;
    }
    for (int i = 0; i < isize(e.heads); ++i) {
        heads.push_back(head_name(clean.config(), e.heads[size_t(i)]));
        by_head.row(i) << e.direct[e.heads[size_t(i)]], e.ablated[e.heads[size_t(i)]];
    }
    Matrix checks(3, 2);
    checks << e.clean.value, e.clean.probability, e.only.value, e.only.probability, e.without.value,
        e.without.probability;
    std::vector<NumberTable> out{
        {"paths", "path", "effect", edges, {"effect", "by queries", "by keys", "by values"}, effects},
        {"heads", "head", "effect", heads, {"direct", "ablated"}, by_head},
        {"check", "run", "value", {"all heads", "only these", "all but these"}, {"metric", "p"}, checks}};
    out[1].beside = out[2].beside = true;
    return out;
}

Json explanation_json(const Explanation& e, const Trace& clean) {
    const ModelConfig& c = clean.config();
    Json heads = Json::array(), edges = Json::array();
    for (const AttentionHead head : e.heads)
        heads.push_back(
            {{"head", head_path(c, head)}, {"direct", e.direct[head]}, {"ablated", e.ablated[head]}});
    for (const PathEdge& edge : e.edges) {
        Json out;
        if (edge.token >= 0)
            out["token"] = edge.token;
        else
            out["from"] = head_path(c, edge.from);
        out["to"] = edge.to_answer ? "answer" : head_path(c, edge.to);
        out["effect"] = edge.effect;
        if (!std::isnan(edge.by_keys))
            out["by"] = {{"queries", edge.by_queries}, {"keys", edge.by_keys}, {"values", edge.by_values}};
        edges.push_back(std::move(out));
    }
    return {{"metric", metric_name(*clean.model, e.metric)},
            {"clean", values_json(e.clean)},
            {"edges_from", e.edges_from},
            {"heads", std::move(heads)},
            {"edges", std::move(edges)},
            {"only_these", values_json(e.only)},
            {"all_but_these", values_json(e.without)}};
}

}  // namespace headlight
