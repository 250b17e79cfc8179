// Patching: a head gets the pattern that it has on another text.
#pragma once

#include "trace/trace.h"

namespace headlight {

/// Whether a change waits for the pattern that another text gives it.
bool needs_patching(const Intervention& intervention);

/// Runs the texts that frozen heads come from, lays their patterns along the tokens of `own` (the model's
/// pass without changes over the text that is shown; aligned by token) and puts them into the changes. Rows
/// are renormalized over the tokens that both texts have; a row without any keeps its own weights. Fails
/// where a text cannot be read, or `cancel` was set.
Result<Intervention> patched(Intervention intervention, const Trace& own, ThreadPool& pool,
                             const CancelFlag* cancel = nullptr);

}  // namespace headlight
