// Computes the station "Follow a word": one token through one block in twelve steps, and the story of how
// the model knew the next word.
#pragma once

#include "learn/follow/follow_run.h"

namespace headlight::learn {

inline constexpr int kFollowSteps = 12, kStoryStops = 4;

struct FollowState {
    int step = 1;  // from 13 on: the stops of the story
    void visit(ControlVisitor& visitor);
};

Result<Page> follow_page(const StationInput& input, const FollowState& state, ThreadPool& pool);

/// Returns the head that copies the predicted word from earlier in the text (copying_head); else, of the last
/// query, the one with the most weight on a key that is neither the first, the query itself nor the one
/// before it. Of an encoder–decoder, the decoder's word and the head of its last cross-attention that look
/// most sharply at a word of the source.
std::optional<TellingCell> followed_head(const Trace& trace, std::optional<AttentionHead> chosen,
                                         ThreadPool& pool);

}  // namespace headlight::learn
