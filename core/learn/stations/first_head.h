// Chooses the head that stations begin with, if the user selected none.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

/// Returns the head whose weights on this text change most if q · k is not divided by √d (moved_weight over
/// all queries, of long texts the first kMaxWords): neither one key alone nor uniform.
std::optional<AttentionHead> most_moved_head(const Trace& trace, ThreadPool& pool);

/// Returns the head with the most weight on the previous token, averaged over the queries.
std::optional<AttentionHead> previous_token_head(const Trace& trace, ThreadPool& pool);

}  // namespace headlight::learn
