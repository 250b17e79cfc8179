// What a reader needs to make a figure again: model, heads, mask, interventions, version.
#pragma once

#include <string>

#include "trace/trace.h"

namespace headlight {

/// "stories, head 2.0. Mask: model default. No interventions. Headlight 0.9." `shown`: what of the model the
/// figure shows; "" where that is all of it.
std::string methods_caption(const Trace& trace, const std::string& shown);

}  // namespace headlight
