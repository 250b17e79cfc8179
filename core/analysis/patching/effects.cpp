// Measures the effects of changes on the metric.
#include "analysis/patching/effects.h"

#include <algorithm>

#include "base/cast.h"
#include "base/check.h"

namespace headlight {

namespace {

constexpr int kHeadsTogether = 16;  // heads per read of the unembedding
constexpr int kMaxStages = 5;

/// Requests the run without each of some heads' z: heads [first, first + count) in the model's order.
std::vector<TraceRequest> ablations(const Trace& trace, int first, int count) {
    std::vector<TraceRequest> out;
    for (int i = first; i < first + count; ++i) {
        Change ablation;
        const AttentionHead head = trace.config().head_at(i);
        ablation.block = head.block;
        ablation.head = head.head;
        out.push_back({trace.request, &trace});
        out.back().request.intervention.changes.push_back(std::move(ablation));
    }
    return out;
}

/// [count, d_model]: the final norm at a position with each of some heads ablated.
Result<Matrix> ablated_rows(const Trace& trace, int position, int first, int count, ThreadPool& pool,
                            const CancelFlag* cancel, const std::function<void(int)>& seen) {
    Matrix rows(count, trace.config().d_model);
    const int together = passes_together(trace, count);
    for (int at = 0; at < count; at += together) {
        const int some = std::min(together, count - at);
        TRY(const auto ablated, run_traces(trace.model, ablations(trace, first + at, some), pool, cancel));
        for (int i = 0; i < some; ++i) rows.row(at + i) = ablated[i]->normalized().row(position);
        if (seen) seen(first + at + some);
    }
    return rows;
}

}  // namespace

Result<HeadEffects> head_effects(const Trace& trace, const Trace* own, const Metric& wanted, ThreadPool& pool,
                                 const CancelFlag* cancel, const std::function<void(int)>& seen) {
    const ModelConfig& c = trace.config();
    const Trace& unchanged = own ? *own : trace;
    TRY(const Metric metric, resolved(wanted, unchanged, pool));
    const Vector own_logits = logits_at(unchanged, metric.position, pool);
    const MetricValues base = evaluate(metric, trace, unchanged, pool);
    HeadEffects out{metric, PerHead<float>(c), PerHead<float>(c), PerHead<float>(c), PerHead<float>(c)};
    for (int first = 0; first < c.head_count(); first += kHeadsTogether) {
        const int count = std::min(kHeadsTogether, c.head_count() - first);
        TRY(const Matrix rows, ablated_rows(trace, metric.position, first, count, pool, cancel, seen));
        const Matrix logits = unembed(*trace.model, rows, pool);
        for (int i = 0; i < count; ++i) {
            const MetricValues change = evaluate(metric, logits.row(i).transpose(), own_logits) - base;
            out.change[first + i] = change.value;
            out.probability[first + i] = change.probability;
            out.logit[first + i] = change.logit;
            out.log_probability[first + i] = change.log_probability;
        }
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
                                   ? divergence(own.pattern_rows(h.block, h.head, out.position, 1).row(0),
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
