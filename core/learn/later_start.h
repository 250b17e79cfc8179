// Measures what a model makes of the same words if they begin at a later position.
#pragma once

#include <memory>
#include <vector>

#include "trace/trace.h"

namespace headlight {

struct LaterStart {
    int first = 0;          // position of the first token
    float probability = 0;  // of what the model wrote when the text began at 0 (geometric mean per token)
};

struct LaterStarts {
    std::string what;  // "“ball”", "a token of the translation"
    int last = 0;      // the last start at which the text fits
    std::vector<LaterStart> starts;
};

/// Puts tokens before the text that nothing may look at, so that only the positions of the text grow: by 1,
/// 2, 4, … up to the last start at which it fits, or 512. Empty for models that neither continue nor
/// translate.
Result<LaterStarts> later_starts(const std::shared_ptr<const Model>& model, const Sequence& text,
                                 ThreadPool& pool, const CancelFlag* cancel);

}  // namespace headlight
