// Runs what verbs that measure effects share.
#pragma once

#include <memory>
#include <string>

#include "analysis/patching/effects.h"

namespace headlight {

/// Runs the pass without the interventions of a trace; null if it has none.
Result<std::shared_ptr<const Trace>> unchanged_run(const Trace& trace, ThreadPool& pool);

/// Ablates each head and measures the metric; `own`: the run without interventions, or null.
Result<HeadEffects> effects_of_heads(const Trace& trace, const Trace* own, const std::string& metric,
                                     ThreadPool& pool);

}  // namespace headlight
