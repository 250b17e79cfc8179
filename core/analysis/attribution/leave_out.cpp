#include "analysis/attribution/leave_out.h"

#include <cmath>
#include <limits>

#include "base/cast.h"
#include "base/quoted.h"

namespace headlight {

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Deleting a token moves those after it: a change that names one would then act on another.
Status check_names_no_token(const Trace& trace) {
    const Intervention& in_force = trace.request.intervention;
    for (const Change& change : in_force.changes)
        if (change.query >= 0 || change.key >= 0 || change.pattern ||
            change_row(change.kind).target == ChangeTarget::positions)
            return Error{"Leaving a token out moves the tokens after it, and the intervention " +
                         in_quotes(change_name(trace.config(), change)) +
                         " names tokens by number; remove it, or choose another method."};
    if (in_force.mask.file_rows() > 0)
        return Error{"Leaving a token out moves the tokens after it, and the mask " +
                     in_quotes(in_force.mask.name()) +
                     " names tokens by number; choose another mask or another method."};
    return success();
}

struct Deleted {
    int stack, token;
};

ForwardRequest without(const ForwardRequest& request, Deleted at) {
    ForwardRequest out = request;
    Sequence& text = out.inputs[size_t(at.stack)];
    text.ids.erase(text.ids.begin() + at.token);
    if (!text.tokens.empty()) text.tokens.erase(text.tokens.begin() + at.token);
    if (!text.types.empty()) text.types.erase(text.types.begin() + at.token);
    return out;
}

class LeaveOut {
public:
    LeaveOut(const Trace& trace, const Trace* own, std::span<const Metric> metrics, ThreadPool& pool)
        : trace_(trace), metrics_(metrics), pool_(pool) {
        const Trace& unchanged = own ? *own : trace;
        for (const Metric& m : metrics) {
            unchanged_.push_back(logits_at(unchanged, m.position, pool));
            value_ += evaluate(m, logits_at(trace, m.position, pool), unchanged_.back()).value;
        }
    }

    /// Whether what is left predicts what is asked for.
    bool can_delete(Deleted at) const {
        const Sequence& text = trace_.request.inputs[size_t(at.stack)];
        if (text.size() < 2) return false;
        if (!is_output(at)) return true;
        if (trace_.request.inputs.size() > 1 && at.token == 0) return false;  // the decoder's start
        for (const Metric& m : metrics_)
            if (at.token == m.position && (trace_.config().can.fill_masks || at.token == 0)) return false;
        return true;
    }

    float score(const Trace& run, Deleted at) const {
        float left = 0;
        for (size_t i = 0; i < metrics_.size(); ++i) {
            const Metric& m = metrics_[i];
            const int position = m.position - (is_output(at) && at.token <= m.position);
            left += evaluate(m, logits_at(run, position, pool_), unchanged_[i]).value;
        }
        return metrics_.front().kind == MetricKind::divergence ? left - value_ : value_ - left;
    }

private:
    bool is_output(Deleted at) const { return at.stack + 1 == isize(trace_.request.inputs); }

    const Trace& trace_;
    std::span<const Metric> metrics_;
    ThreadPool& pool_;
    std::vector<Vector> unchanged_;
    float value_ = 0;
};

std::vector<Deleted> deletions(const Trace& trace, const LeaveOut& scores) {
    std::vector<Deleted> out;
    for (int s = 0; s < isize(trace.request.inputs); ++s)
        for (int t = 0; t < trace.request.inputs[size_t(s)].size(); ++t)
            if (scores.can_delete({s, t})) out.push_back({s, t});
    return out;
}

}  // namespace

Result<std::vector<Vector>> leave_out(const Trace& trace, const Trace* own, std::span<const Metric> metrics,
                                      ThreadPool& pool, const CancelFlag* cancel,
                                      const std::function<void(const std::vector<Vector>&)>& seen) {
    TRY_STATUS(check_names_no_token(trace));
    if (trace.config().can.read_image)
        return Error{"A picture has no token to leave out; choose another method."};
    const LeaveOut scores(trace, own, metrics, pool);
    std::vector<Vector> out;
    for (const Sequence& text : trace.request.inputs) out.push_back(Vector::Constant(text.size(), kNaN));
    const std::vector<Deleted> all = deletions(trace, scores);
    const size_t together = size_t(passes_together(trace, std::max(1, isize(all))));
    for (size_t at = 0; at < all.size(); at += together) {
        std::vector<TraceRequest> runs;
        for (size_t i = at; i < std::min(all.size(), at + together); ++i)
            runs.push_back({without(trace.request, all[i]), &trace});
        TRY(const auto traces, run_traces(trace.model, std::move(runs), pool, cancel));
        for (size_t i = 0; i < traces.size(); ++i) {
            const Deleted deleted = all[at + i];
            out[size_t(deleted.stack)][deleted.token] = scores.score(*traces[i], deleted);
        }
        if (seen) seen(out);
    }
    return out;
}

}  // namespace headlight
