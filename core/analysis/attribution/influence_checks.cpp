// Says what can be attributed of a run.
#include "analysis/attribution/influence.h"
#include "base/cast.h"
#include "model/engine.h"

namespace headlight {

Result<std::vector<Metric>> written_metrics(const Metric& kind, const Trace& trace, int written) {
    const bool of_one = kind.kind != MetricKind::difference && kind.kind != MetricKind::divergence;
    if (!of_one || kind.a >= 0 || kind.position >= 0)
        return Error{
            "What was written is explained by the log p, p or logit of each of its tokens; choose log p "
            "without a token or a position as the metric."};
    const std::vector<int>& ids = trace.output().ids;
    const int n = isize(ids);
    if (!trace.model->has_logits() || trace.config().can.fill_masks)
        return Error{trace.model->name +
                     " writes no text behind what it reads; leave the written tokens out."};
    if (written >= n) return Error{"Nothing stands before what was written, so nothing predicts it."};
    std::vector<Metric> out;
    for (int at = n - written; at < n; ++at) out.push_back({kind.kind, ids[at], -1, at - 1});
    return out;
}

Status check_followed_back(const Trace& trace) {
    if (trace.has_weights()) return success();
    return Error{"A trace holds no weights, so nothing can be followed back in it; open the model."};
}

Status check_method(const Trace& trace, InfluenceMethod method) {
    if (!trace.model->engine) return check_followed_back(trace);
    if (!row_of(influence_methods(), method).needs_weights || weights_come(*trace.model)) return success();
    return Error{
        "This method needs the weights here, and they are in another process; choose leave it out, gradient "
        "norm, input × gradient or rollout."};
}

}  // namespace headlight
