// What the view Influence measures beside the worker: the map, and the scores of tokens, each on a thread of
// its own.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "analysis/answer.h"

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
    ~InfluenceSweep() { stop(); }
    void stop();

    bool is_of(const ShownRuns& runs, const Wanted& wanted) const;
    bool ended() const { return ended_; }
    /// As far as it is known; where it cannot be measured, why.
    typename Wanted::Answer found() const;

private:
    Status measure();
    void tell(typename Wanted::Answer found);

    ShownRuns runs_;
    Wanted wanted_;
    std::function<void(bool)> seen_;
    mutable std::mutex mutex_;  // of found_
    typename Wanted::Answer found_;
    std::atomic<bool> ended_{false};
    CancelFlag cancel_{false};
    std::thread thread_;
};

using InfluenceMapSweep = InfluenceSweep<InfluenceMapWanted>;
using TokenScoresSweep = InfluenceSweep<TokenScoresWanted>;

}  // namespace headlight
