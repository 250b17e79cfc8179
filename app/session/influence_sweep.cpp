#include "session/influence_sweep.h"

#include <chrono>

#include "base/check.h"

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

InfluenceMapFound refused(const InfluenceMapWanted&, std::string why) { return {nullptr, std::move(why)}; }
TokenScores refused(const TokenScoresWanted&, std::string why) { return {nullptr, std::move(why)}; }

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
bool rests_on_other(const TokenScoresWanted& wanted) {
    return wanted.how.method == InfluenceMethod::integrated_gradients &&
           wanted.how.baseline == InfluenceBaseline::prompt;
}

}  // namespace

template <class Wanted>
InfluenceSweep<Wanted>::InfluenceSweep(ShownRuns runs, Wanted wanted, std::function<void(bool)> seen)
    : runs_(std::move(runs)), wanted_(std::move(wanted)), seen_(std::move(seen)) {
    thread_ = std::thread([this] {
        const Status done = guarded([&] { return measure(); });
        if (!done && done.error().cancelled) return;
        if (!done) tell(refused(wanted_, done.error().message));
        ended_ = true;
        seen_(true);
    });
}

template <class Wanted>
bool InfluenceSweep<Wanted>::is_of(const ShownRuns& runs, const Wanted& wanted) const {
    return wanted == wanted_ && runs.shown == runs_.shown && runs.own == runs_.own &&
           (!rests_on_other(wanted) || runs.other == runs_.other);
}

template <class Wanted>
typename Wanted::Answer InfluenceSweep<Wanted>::found() const {
    std::lock_guard lock(mutex_);
    return found_;
}

template <class Wanted>
void InfluenceSweep<Wanted>::tell(typename Wanted::Answer found) {
    std::lock_guard lock(mutex_);
    found_ = std::move(found);
}

template <class Wanted>
Status InfluenceSweep<Wanted>::measure() {
    ThreadPool pool(1);  // the worker keeps the rest
    const CancelScope scope(pool, &cancel_);
    return measured({*runs_.shown, runs_.own.get(), runs_.other.get()}, wanted_, pool, &cancel_,
                    [&](typename Wanted::Answer now) {
                        tell(std::move(now));
                        seen_(false);
                    });
}

template <class Wanted>
void InfluenceSweep<Wanted>::stop() {
    cancel_ = true;
    if (thread_.joinable()) thread_.join();
}

template class InfluenceSweep<InfluenceMapWanted>;
template class InfluenceSweep<TokenScoresWanted>;

}  // namespace headlight
