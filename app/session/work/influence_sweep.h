// What the view Influence measures beside the worker: the map, and the scores of tokens, each on a thread of
// its own.
#pragma once

#include <functional>
#include <optional>

#include "questions/answering.h"
#include "session/work/background_job.h"

namespace headlight {

/// What the view wants to be measured.
struct InfluenceAsked {
    std::optional<InfluenceMapWanted> map;
    std::optional<TokenScoresWanted> scores;
    bool operator==(const InfluenceAsked&) const = default;
};

/// Wanted: InfluenceMapWanted or TokenScoresWanted.
template <class Wanted>
class InfluenceSweep {
public:
    /// Begins; `seen(ended)` is called on the sweep's thread whenever more is known, and at its end, unless
    /// it was stopped.
    InfluenceSweep(ShownRuns runs, Wanted wanted, std::function<void(bool)> seen);
    /// Cancels it and waits until it has stopped.
    void stop() { measuring_.stop(); }

    bool is_of(const ShownRuns& runs, const Wanted& wanted) const;
    bool ended() const { return measuring_.ended(); }
    /// As far as it is known; where it cannot be measured, why.
    typename Wanted::Answer found() const { return measuring_.found(); }

private:
    ShownRuns runs_;
    Wanted wanted_;
    Measuring<typename Wanted::Answer> measuring_;  // the last: it ends before what it reads
};

using InfluenceMapSweep = InfluenceSweep<InfluenceMapWanted>;
using TokenScoresSweep = InfluenceSweep<TokenScoresWanted>;

}  // namespace headlight
