// Describes how to reproduce a figure: model, heads, mask, interventions, version.
#pragma once

#include <string>

#include "trace/trace.h"

namespace headlight {

/// Returns "stories, head 2.0. Mask: model default. No interventions. Headlight 0.9." `shown`: the part of
/// the model that the figure shows; "": all of it.
std::string methods_caption(const Trace& trace, const std::string& shown);

}  // namespace headlight
