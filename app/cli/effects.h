// What the verbs that measure effects share.
#pragma once

#include <memory>
#include <string>

#include "analysis/patching/effects.h"

namespace headlight {

/// The pass without the interventions of a trace; null where it has none.
Result<std::shared_ptr<const Trace>> unchanged_run(const Trace& trace, ThreadPool& pool);

/// What ablating each head does to the metric as it is spelled; `own`: the unchanged run, or null.
Result<HeadEffects> effects_of_heads(const Trace& trace, const Trace* own, const std::string& metric,
                                     ThreadPool& pool);

}  // namespace headlight
