// What a token's embedding is made of.
#pragma once

#include "analysis/attribution/stream_parts.h"

namespace headlight {

/// The embedding of a token as it enters layer 0: first what no token decides, then token, position, segment,
/// those that the model has.
StreamParts embedding_parts(const Trace& trace, int stack, int position, ThreadPool& pool);

}  // namespace headlight
