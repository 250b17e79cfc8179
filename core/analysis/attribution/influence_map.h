// What the view Influence shows: how every output answers to every token, attention beside it, and the scores
// of tokens.
#pragma once

#include <memory>
#include <string>

#include "analysis/attention/shown.h"
#include "analysis/attribution/influence.h"
#include "analysis/comparison/run_pair.h"

namespace headlight {

/// Rows of a map: a layer's resid_post at each token, or the metric taken at each: its gradient, or its
/// relevance (InfluenceMethod::relevance).
enum class InfluenceOf { hidden, metric, relevance };

/// The longest text whose map is measured: its passes grow with n², its cells too.
constexpr int kMaxInfluenceTokens = 512;

struct InfluenceMapRequest {
    using Answer = struct InfluenceMapFound;
    static constexpr int kChosenByCost = -1;
    InfluenceOf of = InfluenceOf::hidden;
    int stack = 0, layer = -1;   // of hidden; −1: the last
    int probes = kChosenByCost;  // of hidden: random directions an output; 0: exact
    Metric metric;               // of the metric, whose position each row sets
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const { return stack == shown.stack(); }
    bool operator==(const InfluenceMapRequest&) const = default;
};

struct InfluenceMap {
    InfluenceMapRequest asked;  // probes as they are taken: 0, or so many
    /// [outputs, tokens of all stacks]: ‖∂output_i/∂E_j‖, or relevance; NaN: not measured yet. A hidden
    /// state's norm is Frobenius'.
    Matrix norms;
    Matrix standard_error;  // of estimated ones; else empty
    int done = 0;           // rows
    bool whole() const { return done == norms.rows(); }
};

/// 0 where every output's exact row takes less than about half a minute in all, by a count of products; else
/// how many random directions are taken instead: 8.
int probes_by_cost(const Trace& trace, const InfluenceMapRequest& request);

/// Some rows at a time; `seen` (or null) gets the map after them. An error says why there is none, or that
/// `cancel` was set.
Result<InfluenceMap> influence_map(const InfluenceRuns& runs, const InfluenceMapRequest& request,
                                   ThreadPool& pool, const CancelFlag* cancel = nullptr,
                                   const std::function<void(const InfluenceMap&)>& seen = nullptr);

/// The map, or why there is none; neither before its first row.
struct InfluenceMapFound {
    std::shared_ptr<const InfluenceMap> map;
    std::string refusal;
};
Result<InfluenceMapFound> answer_influence_map(const Runs& runs, const InfluenceMapRequest& request,
                                               ThreadPool& pool, const CancelFlag* cancel);

/// Attention that a map is compared with: of the chosen head, the mean of its layer, rollout or contributions
/// through all layers up to one.
enum class InfluenceBeside { head, layer, rollout, contribution };

/// Spearman's rank correlation of two rows, ties sharing the mean of their ranks; NaN where one is constant.
float rank_correlation(std::span<const float> x, std::span<const float> y);

struct AttentionBeside {
    Matrix weights;  // [queries, keys] of the block; −1: masked, or out of reach
    /// Mean over the rows of the rank correlation with the map, of keys that the row answers to or sees;
    /// rows of fewer than three such keys count for nothing. NaN: no map, or no such row.
    float correlation = 0;
    int rows = 0;  // that count
};

struct AttentionBesideRequest {
    using Answer = AttentionBeside;
    InfluenceBeside beside = InfluenceBeside::head;
    int block = 0, head = 0;
    int layer = -1;                           // up to which rollout and contributions go; −1: the last
    std::shared_ptr<const InfluenceMap> map;  // whole; null: not measured yet
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const { return block == shown.block; }
    bool operator==(const AttentionBesideRequest&) const = default;
};
Result<AttentionBeside> answer_attention_beside(const Runs& runs, const AttentionBesideRequest& request,
                                                ThreadPool& pool, const CancelFlag* cancel);

/// The columns of a map that are the keys of a block; its rows are the block's queries.
Matrix of_keys(const Matrix& map, const Trace& trace, int block);

/// Scores of tokens by one method.
struct TokenScoresRequest {
    using Answer = struct TokenScores;
    InfluenceRequest how;
    bool operator==(const TokenScoresRequest&) const = default;
};
struct TokenScores {
    std::shared_ptr<const Influence> found;  // null: not yet, or refused
    std::string refusal;
    int done = 0, steps = 1;
};
Result<TokenScores> answer_token_scores(const Runs& runs, const TokenScoresRequest& request, ThreadPool& pool,
                                        const CancelFlag* cancel);

/// The runs of a question about influence; the other text's is a baseline.
inline InfluenceRuns influence_runs(const Runs& runs) { return {runs.shown, runs.own, runs.other}; }
/// The scores, with a count of steps told to `seen`; what cannot be is a refusal.
Result<TokenScores> token_scores(const InfluenceRuns& runs, const TokenScoresRequest& request,
                                 ThreadPool& pool, const CancelFlag* cancel = nullptr,
                                 const std::function<void(const TokenScores&)>& seen = nullptr);

}  // namespace headlight
