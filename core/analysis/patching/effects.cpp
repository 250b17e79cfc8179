// Measures the effects of changes on the metric.
#include "analysis/patching/effects.h"

#include <algorithm>
#include <limits>

#include "base/cast.h"
#include "base/check.h"

namespace headlight {

namespace {

constexpr int kHeadsTogether = 16;  // heads per read of the unembedding
constexpr int kMaxStages = 5;

using HeadGroups = std::vector<std::vector<AttentionHead>>;

/// Adds to the run's own interventions what sets the z of each group to 0.
std::vector<Intervention> ablations(const Trace& trace, const HeadGroups& groups) {
    std::vector<Intervention> out;
    for (const auto& group : groups) {
        out.push_back(trace.request.intervention);
        for (const AttentionHead head : group) {
            Change ablation;
            ablation.block = head.block;
            ablation.head = head.head;
            out.back().changes.push_back(std::move(ablation));
        }
    }
    return out;
}

/// Holds what ablations are measured against.
struct Measured {
    Metric metric;
    Vector own_logits;
    MetricValues base;
};

Result<Measured> measured_run(const Trace& trace, const Trace* own, const Metric& wanted, ThreadPool& pool) {
    const Trace& unchanged = own ? *own : trace;
    TRY(const Metric metric, resolved(wanted, unchanged, pool));
    return Measured{metric, logits_at(unchanged, metric.position, pool),
                    evaluate(metric, trace, unchanged, pool)};
}

/// Measures the metric without each group; reads the unembedding once.
Result<std::vector<MetricValues>> values_without(const Trace& trace, const Measured& of,
                                                 const HeadGroups& groups, ThreadPool& pool,
                                                 const CancelFlag* cancel) {
    TRY(const Matrix logits, logits_under(trace, ablations(trace, groups), of.metric.position, pool, cancel));
    std::vector<MetricValues> out;
    for (Index i = 0; i < logits.rows(); ++i)
        out.push_back(evaluate(of.metric, logits.row(i).transpose(), of.own_logits));
    return out;
}

}  // namespace

Result<HeadEffects> head_effects(const Trace& trace, const Trace* own, const Metric& wanted, ThreadPool& pool,
                                 const CancelFlag* cancel,
                                 const std::function<void(int, const HeadEffects&)>& seen) {
    const ModelConfig& c = trace.config();
    TRY(const Measured of, measured_run(trace, own, wanted, pool));
    const PerHead<float> none(c, std::numeric_limits<float>::quiet_NaN());
    HeadEffects out{of.metric, of.base, none, none, none, none};
    for (int first = 0; first < c.head_count();) {
        HeadGroups heads;
        const int count = passes_together(trace, std::min(kHeadsTogether, c.head_count() - first));
        for (int i = first; i < first + count; ++i) heads.push_back({c.head_at(i)});
        TRY(const auto values, values_without(trace, of, heads, pool, cancel));
        for (const MetricValues& value : values) {
            const MetricValues change = value - of.base;
            out.change[first] = change.value;
            out.probability[first] = change.probability;
            out.logit[first] = change.logit;
            out.log_probability[first++] = change.log_probability;
        }
        if (seen) seen(first, out);
    }
    return out;
}

Result<Ablations> ablate_groups(const Trace& trace, const Trace* own, const Metric& wanted,
                                const HeadGroups& groups, ThreadPool& pool, const CancelFlag* cancel) {
    TRY(const Measured of, measured_run(trace, own, wanted, pool));
    Ablations out{of.metric, of.base, {}};
    for (const auto& group : groups) {
        TRY(const auto values, values_without(trace, of, {group}, pool, cancel));
        out.without.push_back(values.front());
    }
    return out;
}

std::vector<AttentionHead> Moved::heads(const ModelConfig& config) const {
    constexpr float kLeast = 5e-4f;
    std::vector<AttentionHead> out;
    for (int i = 0; i < isize(distances); ++i)
        if (distances[size_t(i)] >= kLeast) out.push_back(config.head_at(i));
    std::stable_sort(out.begin(), out.end(),
                     [&](AttentionHead x, AttentionHead y) { return distances[x] > distances[y]; });
    return out;
}

const Change* ablation_of(const Intervention& changes, AttentionHead head) {
    for (const Change& change : changes.changes)
        if ((change.kind == ChangeKind::zero || change.kind == ChangeKind::mean) &&
            AttentionHead{change.block, change.head} == head)
            return &change;
    return nullptr;
}

std::optional<AttentionHead> most_moved(const Moved& moved, const ModelConfig& c,
                                        const Intervention& changes) {
    for (const AttentionHead head : moved.heads(c))
        if (!ablation_of(changes, head)) return head;
    return std::nullopt;
}

Result<Moved> answer_moved(const Runs& runs, const MovedRequest& w, ThreadPool& pool,
                           const CancelFlag* cancel) {
    Moved out;
    if (!runs.own) return out;
    const Trace &own = *runs.own, &now = runs.shown;
    const ModelConfig& c = now.config();
    const auto predicts = predicting_positions(own);
    out.position = w.position >= 0 && w.position < now.output().size() ? w.position
                   : predicts.empty()                                  ? -1
                                                                       : predicts[0];
    if (out.position >= 0) {
        const int output = isize(c.stacks) - 1;
        out.distances = PerHead<float>(c);
        const CancelScope scope(pool, cancel);
        for_heads(c, pool, [&](AttentionHead h) {
            out.distances[h] = c.block(h.block).stack == output
                                   ? (own.is_mixing(h.block) ? mixing_distance : divergence)(
                                         own.pattern_rows(h.block, h.head, out.position, 1).row(0),
                                         now.pattern_rows(h.block, h.head, out.position, 1).row(0))
                                   : head_distance(own, h.block, h.head, now, h.block, h.head,
                                                   align_blocks({}, own, h.block, now, h.block), cancel);
        });
        if (!out.heads(c).empty()) return out;
    }
    out.position = -1;
    TRY(out.distances, head_distances(own, now, {}, pool, cancel));
    return out;
}

Result<MetricReport> answer_metric(const Runs& runs, const MetricRequest& w, ThreadPool& pool,
                                   const CancelFlag*) {
    constexpr int kEffects = 9;
    MetricReport out;
    const Trace& own = runs.own ? *runs.own : runs.shown;
    const auto metric = resolved(w.metric, own, pool);
    if (!metric)
        out.refusal = metric.error().message;
    else if (metric->kind == MetricKind::divergence && !runs.own)
        out.refusal = "No interventions: the divergence from the unchanged run is 0.";
    if (metric) out.metric = *metric;
    if (!out.refusal.empty()) return out;
    out.before = out.now = evaluate(out.metric, own, own, pool);
    if (!runs.own) return out;
    out.changed = true;
    out.now = evaluate(out.metric, runs.shown, own, pool);
    out.effects =
        probability_changes(own, out.metric.position, runs.shown, out.metric.position, kEffects, pool);
    return out;
}

Result<Stages> answer_stages(const Runs& runs, const StagesRequest& w, ThreadPool& pool,
                             const CancelFlag* cancel) {
    Stages out;
    if (!runs.own) return out;
    const auto metric = resolved(w.metric, *runs.own, pool);
    if (!metric) return out;
    out.metric = *metric;
    const auto& changes = runs.shown.request.intervention.changes;
    out.first = std::max(0, isize(changes) - kMaxStages);
    std::shared_ptr<const Trace> before;
    for (size_t count = out.first; count < changes.size(); ++count) {
        ForwardRequest request = runs.shown.request;
        request.intervention.changes.resize(count);
        TRY(before,
            run_trace(runs.shown.model, std::move(request), pool, cancel, before ? before.get() : runs.own));
        out.values.push_back(evaluate(out.metric, *before, *runs.own, pool));
    }
    out.values.push_back(evaluate(out.metric, runs.shown, *runs.own, pool));
    return out;
}

}  // namespace headlight
