// Leave-one-out: deletes each part of the text in turn and runs the rest again.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "analysis/comparison/text_parts.h"
#include "analysis/prediction/metric.h"

namespace headlight {

/// Holds the prediction without a part of the text.
struct LeftOut {
    int stack = 0;
    TextSpan part;
    MetricValues without;  // summed over the metrics; the probability is their product
    /// A token's probability with the part and without it.
    struct Chance {
        int id;
        float before, without;
        bool operator==(const Chance&) const = default;
    };
    std::vector<Chance> likely;  // the most probable without it; of one metric
    bool operator==(const LeftOut&) const = default;
};

struct LeaveOutRequest {
    std::span<const Metric> metrics;  // resolved
    TextPart part = TextPart::token;
    int written = 0;  // tokens at the output's end that stay
};

/// Holds the runs so far.
struct LeaveOutRuns {
    MetricValues before;  // of the whole text
    std::vector<LeftOut> found;
    int all = 0;  // runs that there will be
};

/// Measures the sum of the metrics without each part that can be deleted: not the whole text, the decoder's
/// start, nor what a masked model predicts. A metric of a token that is deleted is taken of the one before.
/// Changes of cells move with their tokens. `own`: the unchanged run, or null. Rows before a deleted part are
/// taken from `trace`. `seen` (or null) is called after every few runs. Fails where a part's absence has no
/// meaning: other changes name tokens by number, a picture, nothing to delete; and where `cancel` was set.
Result<LeaveOutRuns> leave_out(const Trace& trace, const Trace* own, const LeaveOutRequest& request,
                               ThreadPool& pool, const CancelFlag* cancel = nullptr,
                               const std::function<void(const LeaveOutRuns&)>& seen = nullptr);

/// Returns the changes that act on the same tokens once a part of a stack is deleted: one of cells of several
/// kinds of blocks becomes one of each. Exposed for tests.
std::vector<Change> changes_without(const ModelConfig& config, const Change& change, int stack,
                                    TextSpan gone);

}  // namespace headlight
