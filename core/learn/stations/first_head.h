// Which head stations begin with, where the person has not chosen one.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

/// The head whose weights on this text change most where q · k is not divided by √d (moved_weight over all
/// queries, of long texts the first kMaxWords): neither one key alone nor all alike.
std::optional<AttentionHead> most_moved_head(const Trace& trace, ThreadPool& pool);

/// The head that gives most weight to the token before, the mean over the queries.
std::optional<AttentionHead> previous_token_head(const Trace& trace, ThreadPool& pool);

}  // namespace headlight::learn
