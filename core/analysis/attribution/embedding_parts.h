// Splits a token's embedding into its parts.
#pragma once

#include "analysis/attribution/stream_parts.h"

namespace headlight {

/// Returns the parts of the input of layer 0: first what does not depend on the token, then token, position,
/// segment, if the model has them.
StreamParts embedding_parts(const Trace& trace, int stack, int position, ThreadPool& pool);

}  // namespace headlight
