// Leave-one-out: deletes each token in turn and runs the rest again.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "analysis/prediction/metric.h"

namespace headlight {

/// The sum of `metrics` (resolved) minus the same without each token; of a divergence the reverse, how far
/// the token's absence moves the prediction. Of each stack, by token; NaN where a token cannot be deleted:
/// the only one of its text, the decoder's start, or the one that a masked model predicts. A metric of a
/// token that is deleted is taken of the one before. `own`: the unchanged run, or null. Rows before a deleted
/// token are taken from `trace`. `seen` (or null) gets the scores after every few runs, NaN where unmeasured.
/// Fails where an intervention names tokens by number, of pictures, and where `cancel` was set.
Result<std::vector<Vector>> leave_out(const Trace& trace, const Trace* own, std::span<const Metric> metrics,
                                      ThreadPool& pool, const CancelFlag* cancel = nullptr,
                                      const std::function<void(const std::vector<Vector>&)>& seen = nullptr);

}  // namespace headlight
