// Sums attention between the turns of a conversation.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/comparison/run_pair.h"
#include "model/heads.h"

namespace headlight {

/// Says how heads count: the mean or the largest of their weights, or what they move (contribution_shares,
/// mean over layers).
enum class TurnMeasure { mean, max, contribution };

/// Asks what each turn attends to in each other one. A turn attends with `of_query`'s tokens, and is attended
/// to at `of_key`'s: the number of the turn, or −1. `head`: one head instead of all.
struct TurnsRequest {
    using Answer = struct TurnsFound;
    std::vector<int> of_query, of_key;
    int turns = 0;
    TurnMeasure measure = TurnMeasure::mean;
    std::optional<AttentionHead> head = std::nullopt;
    bool rests_on_other() const { return false; }
    bool operator==(const TurnsRequest&) const = default;
};

/// Holds means over the queries of a turn; NaN for a turn without a query.
struct TurnWeights {
    Matrix turns;   // [turns, turns]: Σ over the keys of a turn
    Matrix tokens;  // [turns, keys]
    Matrix heads;   // [head_count, turns · turns]: Σ of each head; empty: contributions have none
};

struct TurnsFound {
    TurnWeights shown, own;  // own: of the unchanged run; empty: nothing is changed
    std::string refusal;
};

/// Sums shares of keys (shares_of_keys): a row of a mixing matrix is divided by the sum of its sizes. Memory
/// grows with turns · keys · heads of a layer.
Result<TurnWeights> turn_weights(const Trace& trace, const TurnsRequest& request, ThreadPool& pool,
                                 const CancelFlag* cancel = nullptr);
Result<TurnsFound> measure_turns(const Runs& runs, const TurnsRequest& request, ThreadPool& pool,
                                 const CancelFlag* cancel, const std::function<void(TurnsFound)>& seen);

}  // namespace headlight
