#include "session/work/influence_sweep.h"

#include <chrono>

namespace headlight {

namespace {

/// A map is copied to be shown: not after each row.
class Pace {
public:
    bool is_due() {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(150)) return false;
        last_ = now;
        return true;
    }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

template <class Found>
Found refused(std::string why) {
    Found out;
    out.refusal = std::move(why);
    return out;
}

using SeenMap = std::function<void(InfluenceMapFound)>;
using SeenScores = std::function<void(TokenScores)>;

Status measured(const InfluenceRuns& runs, const InfluenceMapWanted& wanted, ThreadPool& pool,
                const CancelFlag* cancel, const SeenMap& tell) {
    Pace pace;
    TRY(InfluenceMap map, influence_map(runs, wanted, pool, cancel, [&](const InfluenceMap& now) {
            if (pace.is_due()) tell({std::make_shared<const InfluenceMap>(now), ""});
        }));
    tell({std::make_shared<const InfluenceMap>(std::move(map)), ""});
    return success();
}

Status measured(const InfluenceRuns& runs, const TokenScoresWanted& wanted, ThreadPool& pool,
                const CancelFlag* cancel, const SeenScores& tell) {
    TRY(TokenScores found, token_scores(runs, wanted, pool, cancel, tell));
    tell(std::move(found));
    return success();
}

bool rests_on_other(const InfluenceMapWanted&) { return false; }
bool rests_on_other(const TokenScoresWanted& wanted) { return wanted.how.needs_prompt(); }

}  // namespace

template <class Wanted>
InfluenceSweep<Wanted>::InfluenceSweep(ShownRuns runs, Wanted wanted, std::function<void(bool)> seen)
    : runs_(std::move(runs)),
      wanted_(std::move(wanted)),
      measuring_(
          {},
          [this](ThreadPool& pool, const CancelFlag* cancel, const auto& tell) {
              return measured({*runs_.shown, runs_.own.get(), runs_.other.get()}, wanted_, pool, cancel,
                              tell);
          },
          [](std::string why) { return refused<typename Wanted::Answer>(std::move(why)); }, std::move(seen)) {
}

template <class Wanted>
bool InfluenceSweep<Wanted>::is_of(const ShownRuns& runs, const Wanted& wanted) const {
    return wanted == wanted_ && runs.shown == runs_.shown && runs.own == runs_.own &&
           (!rests_on_other(wanted) || runs.other == runs_.other);
}

template class InfluenceSweep<InfluenceMapWanted>;
template class InfluenceSweep<TokenScoresWanted>;

}  // namespace headlight
