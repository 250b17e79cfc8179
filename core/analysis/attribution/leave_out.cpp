#include "analysis/attribution/leave_out.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/quoted.h"

namespace headlight {

namespace {

constexpr int kLikely = 5;        // tokens to list without a part
constexpr int kSeenTogether = 4;  // runs between partial results

/// Deleting a part moves the tokens after it: a change of rows would then act on others.
Status check_moves_along(const Trace& trace) {
    const Intervention& active = trace.request.intervention;
    for (const Change& change : active.changes) {
        const ChangeTarget target = change_row(change.kind).target;
        if (change.pattern || target == ChangeTarget::positions || target == ChangeTarget::rows)
            return Error{"Leaving a token out moves the tokens after it, and the intervention " +
                         in_quotes(change_name(trace.config(), change)) +
                         " names tokens by number; remove it, or choose another method."};
    }
    if (active.mask.file_rows() > 0)
        return Error{"Leaving a token out moves the tokens after it, and the mask " +
                     in_quotes(active.mask.name()) +
                     " names tokens by number; choose another mask or another method."};
    return success();
}

/// Positions first … first + count − 1 without those of a part; false if none is left.
bool shift_span(int& first, int& count, TextSpan gone) {
    const auto moved = [&](int at) { return at - std::clamp(at - gone.first, 0, gone.size()); };
    const int end = moved(first + std::min(count, kToEnd - first));
    const bool open = count >= kToEnd;
    first = moved(first);
    count = open ? kToEnd : end - first;
    return count > 0;
}

}  // namespace

std::vector<Change> changes_without(const ModelConfig& config, const Change& change, int stack,
                                    TextSpan gone) {
    if (change.query < 0 && change.key < 0) return {change};
    const int last = isize(config.stacks) - 1;
    std::vector<Change> each{change};
    if (last > 0 && change.block < 0 && (change.blocks == Blocks::usual || change.blocks == Blocks::all)) {
        each.clear();
        for (const Blocks blocks : {Blocks::encoder, Blocks::decoder, Blocks::cross}) {
            if (blocks == Blocks::cross && change.blocks == Blocks::usual) continue;
            each.push_back(change);
            each.back().blocks = blocks;
        }
    }
    std::vector<Change> out;
    for (Change& one : each) {
        int of_queries = last, of_keys = last;
        if (one.block >= 0) {
            of_queries = config.block(one.block).stack;
            of_keys = config.block(one.block).key_stack;
        } else if (last > 0) {
            of_queries = one.blocks == Blocks::encoder ? 0 : last;
            of_keys = one.blocks == Blocks::decoder ? last : 0;
        }
        const bool kept = (of_queries != stack || shift_span(one.query, one.queries, gone)) &&
                          (of_keys != stack || shift_span(one.key, one.keys, gone));
        if (kept) out.push_back(one);
    }
    return out;
}

namespace {

struct Deleted {
    int stack;
    TextSpan part;
};

ForwardRequest without(const Trace& trace, const Deleted& at) {
    ForwardRequest out = trace.request;
    Sequence& text = out.inputs[size_t(at.stack)];
    const auto erase = [&](auto& of) {
        if (!of.empty()) of.erase(of.begin() + at.part.first, of.begin() + at.part.end);
    };
    erase(text.ids);
    erase(text.tokens);
    erase(text.types);
    out.intervention.changes.clear();
    for (const Change& change : trace.request.intervention.changes)
        for (Change& moved : changes_without(trace.config(), change, at.stack, at.part))
            out.intervention.changes.push_back(std::move(moved));
    return out;
}

class LeaveOut {
public:
    LeaveOut(const Trace& trace, const Trace* own, const LeaveOutRequest& request, ThreadPool& pool)
        : trace_(trace), request_(request), pool_(pool) {
        const Trace& unchanged = own ? *own : trace;
        for (const Metric& m : request.metrics) {
            unchanged_.push_back(logits_at(unchanged, m.position, pool));
            before_.push_back(logits_at(trace, m.position, pool));
        }
    }

    static bool touches(const PatchGrid& image, const TextSpan& part) {
        return part.first < image.first + image.count && image.first < part.end;
    }

    /// Returns whether the rest still predicts what is asked for.
    bool can_delete(const Deleted& at) const {
        const Sequence& text = trace_.request.inputs[size_t(at.stack)];
        if (text.size() <= at.part.size()) return false;
        if (text.picture && touches(text.picture->grid, at.part)) return false;  // they stand for one image
        if (!is_output(at)) return true;
        if (trace_.request.inputs.size() > 1 && at.part.first == 0) return false;  // the decoder's start
        for (const Metric& m : request_.metrics) {
            const bool predicts = at.part.first <= m.position && m.position < at.part.end;
            if (predicts && (trace_.config().can.fill_masks || at.part.first == 0)) return false;
        }
        return true;
    }

    MetricValues before() const { return sum(before_); }

    LeftOut measured(const Trace& run, const Deleted& at) const {
        std::vector<Vector> logits;
        for (const Metric& m : request_.metrics) {
            const int gone = std::clamp(m.position + 1 - at.part.first, 0, at.part.size());
            logits.push_back(logits_at(run, m.position - (is_output(at) ? gone : 0), pool_));
        }
        LeftOut out{at.stack, at.part, sum(logits), {}};
        if (logits.size() == 1) out.likely = likely(logits.front());
        return out;
    }

private:
    bool is_output(const Deleted& at) const { return at.stack + 1 == isize(trace_.request.inputs); }

    MetricValues sum(const std::vector<Vector>& logits) const {
        MetricValues out;
        for (size_t i = 0; i < logits.size(); ++i) {
            const MetricValues one = evaluate(request_.metrics[i], logits[i], unchanged_[i]);
            out.value += one.value;
            out.logit += one.logit;
            out.log_probability += one.log_probability;
        }
        out.probability = std::exp(out.log_probability);
        return out;
    }

    /// The most probable tokens, and in any case the one that is explained.
    std::vector<LeftOut::Chance> likely(const Vector& logits) const {
        const Vector now = probabilities(logits), before = probabilities(before_.front());
        std::vector<int> ids = ranked_ids(now, kLikely);
        const int answer = request_.metrics.front().a;
        if (answer >= 0 && !contains(ids, answer)) ids.back() = answer;
        std::vector<LeftOut::Chance> out;
        for (const int id : ids) out.push_back({id, before[id], now[id]});
        return out;
    }

    const Trace& trace_;
    const LeaveOutRequest& request_;
    ThreadPool& pool_;
    std::vector<Vector> unchanged_, before_;
};

std::vector<Deleted> deletions(const Trace& trace, const LeaveOutRequest& request, const LeaveOut& runs) {
    std::vector<Deleted> out;
    const int stacks = isize(trace.request.inputs);
    for (int s = 0; s < stacks; ++s) {
        const int end = trace.request.inputs[size_t(s)].size() - (s + 1 == stacks ? request.written : 0);
        for (TextSpan part : text_parts(trace, s, request.part)) {
            part.end = std::min(part.end, end);
            if (part.size() > 0 && runs.can_delete({s, part})) out.push_back({s, part});
        }
    }
    return out;
}

}  // namespace

Result<LeaveOutRuns> leave_out(const Trace& trace, const Trace* own, const LeaveOutRequest& request,
                               ThreadPool& pool, const CancelFlag* cancel,
                               const std::function<void(const LeaveOutRuns&)>& seen) {
    TRY_STATUS(check_moves_along(trace));
    if (trace.config().can.read_image)
        return Error{"An image has no token to leave out; choose another method."};
    const LeaveOut runs(trace, own, request, pool);
    const std::vector<Deleted> all = deletions(trace, request, runs);
    if (all.empty())
        return Error{
            "There is nothing to leave out: the prediction needs every part of this text; choose smaller "
            "parts, or write a longer text."};
    LeaveOutRuns out{runs.before(), {}, isize(all)};
    const size_t together = size_t(passes_together(trace, std::min(kSeenTogether, isize(all))));
    for (size_t at = 0; at < all.size(); at += together) {
        std::vector<TraceRequest> asked;
        for (size_t i = at; i < std::min(all.size(), at + together); ++i)
            asked.push_back({without(trace, all[i]), &trace});
        TRY(const auto traces, run_traces(trace.model, std::move(asked), pool, cancel));
        for (size_t i = 0; i < traces.size(); ++i)
            out.found.push_back(runs.measured(*traces[i], all[at + i]));
        if (seen) seen(out);
    }
    return out;
}

}  // namespace headlight
