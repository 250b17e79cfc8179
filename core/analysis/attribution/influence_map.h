// Computes the view Influence: how strongly every output depends on every token, attention beside it, and the
// scores of tokens.
#pragma once

#include <memory>
#include <string>

#include "analysis/attention/shown.h"
#include "analysis/attribution/influence.h"
#include "analysis/comparison/run_pair.h"

namespace headlight {

/// Says what rows of a map are: a layer's resid_post at each token, or the metric at each: its gradient, or
/// its relevance (InfluenceMethod::relevance).
enum class InfluenceOf { hidden, metric, relevance };

/// Bounds the text of a map: its passes and its cells grow with n².
constexpr int kMaxInfluenceTokens = 512;

struct InfluenceMapRequest {
    using Answer = struct InfluenceMapFound;
    static constexpr int kChosenByCost = -1;
    InfluenceOf of = InfluenceOf::hidden;
    int stack = 0, layer = -1;   // for hidden; −1: the last
    int probes = kChosenByCost;  // for hidden: random directions per output; 0: exact
    Metric metric;               // for the metric, whose position each row sets
    bool rests_on_other() const { return false; }
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const { return stack == shown.stack(); }
    bool operator==(const InfluenceMapRequest&) const = default;
};

struct InfluenceMap {
    InfluenceMapRequest asked;  // probes resolved: 0, or a number
    /// [outputs, tokens of all stacks]: ‖∂output_i/∂E_j‖, or relevance; NaN: not measured yet. Frobenius norm
    /// for hidden states.
    Matrix norms;
    Matrix standard_error;  // of estimates; else empty
    int done = 0;           // rows
    bool whole() const { return done == norms.rows(); }
};

/// Returns 0 if exact rows of all outputs take less than about half a minute, by a count of products; else
/// the number of random directions to use: 8.
int probes_by_cost(const Trace& trace, const InfluenceMapRequest& request);

/// Computes some rows at a time; passes the map to `seen` (or null) after them. Fails if there is no map, or
/// `cancel` was set.
Result<InfluenceMap> influence_map(const InfluenceRuns& runs, const InfluenceMapRequest& request,
                                   ThreadPool& pool, const CancelFlag* cancel = nullptr,
                                   const std::function<void(const InfluenceMap&)>& seen = nullptr);

/// Holds the map, or why there is none; neither before its first row.
struct InfluenceMapFound {
    std::shared_ptr<const InfluenceMap> map;
    std::string refusal;
};
Result<InfluenceMapFound> measure_influence_map(const Runs& runs, const InfluenceMapRequest& request,
                                                ThreadPool& pool, const CancelFlag* cancel,
                                                const std::function<void(InfluenceMapFound)>& seen);

/// Selects the attention to compare with a map: the selected head, the mean of its layer, or rollout or
/// contributions through all layers up to one.
enum class InfluenceBeside { head, layer, rollout, contribution };

/// Computes Spearman's rank correlation of two rows, ties sharing their mean rank; NaN if one is constant.
float rank_correlation(std::span<const float> x, std::span<const float> y);

struct AttentionBeside {
    Matrix weights;  // [queries, keys] of the block; −1: masked, or unreachable
    /// Mean over the rows of the rank correlation with the map, over keys that the row depends on or attends
    /// to; skips rows with fewer than three. NaN: no map, or no such row.
    float correlation = 0;
    int rows = 0;  // rows that count
};

struct AttentionBesideRequest {
    using Answer = AttentionBeside;
    InfluenceBeside beside = InfluenceBeside::head;
    int block = 0, head = 0;
    int layer = -1;                           // last layer of rollout and contributions; −1: the last
    std::shared_ptr<const InfluenceMap> map;  // complete; null: not measured yet
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const { return block == shown.block; }
    bool operator==(const AttentionBesideRequest&) const = default;
};
Result<AttentionBeside> answer_attention_beside(const Runs& runs, const AttentionBesideRequest& request,
                                                ThreadPool& pool, const CancelFlag* cancel);

/// Selects the columns of a map that are the keys of a block; its rows are the block's queries.
Matrix of_keys(const Matrix& map, const Trace& trace, int block);

/// Holds the scores of a method, those of some parts alone while it measures.
struct TokenScores {
    std::shared_ptr<const Influence> found;  // null: not yet, or refused
    std::string refusal;
    int done = 0, steps = 0;  // points or runs; steps: at most; 0: not known ahead
    bool whole = false;
    bool ended() const { return whole || !refusal.empty(); }
};
/// Requests scores by one method; `Column`: which of the two that stand side by side.
template <int Column>
struct ScoresRequest {
    using Answer = TokenScores;
    InfluenceRequest how;
    bool rests_on_other() const { return how.needs_prompt(); }
    bool operator==(const ScoresRequest&) const = default;
};
using FirstScoresRequest = ScoresRequest<0>;
using SecondScoresRequest = ScoresRequest<1>;

/// Returns the runs of a question about influence; the other text's is a baseline.
inline InfluenceRuns influence_runs(const Runs& runs) { return {runs.shown, runs.own, runs.other}; }
/// Computes the scores and reports steps to `seen`, or null.
Result<TokenScores> token_scores(const InfluenceRuns& runs, const InfluenceRequest& request, ThreadPool& pool,
                                 const CancelFlag* cancel, const std::function<void(TokenScores)>& seen);

template <int Column>
Result<TokenScores> measure_token_scores(const Runs& runs, const ScoresRequest<Column>& request,
                                         ThreadPool& pool, const CancelFlag* cancel,
                                         const std::function<void(TokenScores)>& seen) {
    return token_scores(influence_runs(runs), request.how, pool, cancel, seen);
}

}  // namespace headlight
