// Traces attention through a stack's layers: a graph of tokens, rollout and flow (Abnar and Zuidema 2020).
#pragma once

#include <string>
#include <vector>

#include "analysis/attention/links.h"
#include "analysis/attention/shown.h"
#include "analysis/attribution/paths.h"
#include "analysis/comparison/run_pair.h"
#include "analysis/prediction/metric.h"

namespace headlight {

/// Says how to trace a token at the top down to the input. rollout: rollout_shares. flow: the maximum flow
/// through these weights. contribution: contribution_shares. relevance: R ← R + R · mean over heads of
/// (gradient ∘ pattern)⁺ (Chefer et al. 2021). automatic: rollout, or contributions if rollout leaves more
/// than half to the first token, a sink.
enum class Origins { automatic, rollout, flow, contribution, relevance };

/// Returns the maximum flow from each embedding to one token at the top, with the weights of rollout_shares
/// as capacities. Empty for more than kMaxFlowTokens tokens: the graph grows with n².
std::vector<float> attention_flow(const Trace& trace, const IncludedHeads& included, int token,
                                  const CancelFlag* cancel = nullptr);
constexpr int kMaxFlowTokens = 96;

/// Says what relevance explains: the metric, at the traced token.
struct OriginsMetric {
    Metric metric;
    int token = -1;
    bool operator==(const OriginsMetric&) const = default;
};

/// Holds the strongest links of each layer's mean pattern, to draw a graph; for contributions those to other
/// tokens; for relevance weighted patterns.
struct Graph {
    std::vector<int> blocks;
    std::vector<std::vector<std::vector<Link>>> links;  // [layer][query], heaviest first
    std::vector<Vector> residual_weight;  // [layer][query], in the links' unit (Rollout::scales); empty: 1
    /// [layer][query]: the part of residual_weight that heads leave to their sinks, in the same unit: with
    /// the links' weights of rollout it sums to 1; empty: not known.
    std::vector<Vector> sinks;
};

struct GraphRequest {
    using Answer = Graph;
    IncludedHeads included;
    float share = 0.7f;  // of each row's mass
    Origins by = Origins::rollout;
    OriginsMetric of;  // for relevance
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const;
    bool operator==(const GraphRequest&) const = default;
};

Result<Graph> answer_graph(const Runs& runs, const GraphRequest& request, ThreadPool& pool,
                           const CancelFlag* cancel);

/// Traces one token at the top down to the input.
struct Rollout {
    Origins by = Origins::rollout;  // never automatic
    /// [layers + 1, n]: the share of each token at each depth in the traced token. Row L is that token alone,
    /// row 0 the embeddings; rows sum to 1.
    Matrix accumulated;
    Matrix replaced;  // part of it in rows that the user replaced in higher layers: no link carries it
    std::vector<float> flow;  // attention_flow, of its sum; empty if not requested or too large
    /// Factors of the links' weights above each layer: how much of reached(layer + 1, query) a link carries.
    std::vector<float> scales;
    std::string refusal;  // why another way was used than requested
    /// Return the shares at the input; without the first token's, renormalized, if that is shown apart.
    std::vector<float> shares() const;
    static std::vector<float> without_sink(std::vector<float> shares);
};

struct RolloutRequest {
    using Answer = Rollout;
    IncludedHeads included;
    int token = 0;
    Origins by = Origins::rollout;
    Metric metric;  // for relevance
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const;
    bool operator==(const RolloutRequest&) const = default;
};

Result<Rollout> answer_rollout(const Runs& runs, const RolloutRequest& request, ThreadPool& pool,
                               const CancelFlag* cancel);

}  // namespace headlight
