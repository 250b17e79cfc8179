// Attention through all layers of a stack: a graph of tokens, rollout and flow (Abnar and Zuidema 2020).
#pragma once

#include <string>
#include <vector>

#include "analysis/attention/links.h"
#include "analysis/attention/shown.h"
#include "analysis/attribution/paths.h"
#include "analysis/comparison/run_pair.h"
#include "analysis/prediction/metric.h"

namespace headlight {

/// How it is told where a token at the top comes from. rollout: rollout_shares. flow: the largest flow
/// through these weights. contribution: contribution_shares. relevance: R ← R + R · mean over
/// heads of (gradient ∘ pattern)⁺ (Chefer et al. 2021). automatic: rollout, or contributions where it leaves
/// more than half to the first token, a sink.
enum class Origins { automatic, rollout, flow, contribution, relevance };

/// The largest flow from each embedding to one token at the top, when edges carry at most their weight in
/// rollout_shares. Empty for more than kMaxFlowTokens tokens: the graph grows with n².
std::vector<float> attention_flow(const Trace& trace, const IncludedHeads& included, int token,
                                  const CancelFlag* cancel = nullptr);
constexpr int kMaxFlowTokens = 96;

/// What relevance is of: the metric, taken at the token that is followed.
struct OriginsMetric {
    Metric metric;
    int token = -1;
    bool operator==(const OriginsMetric&) const = default;
};

/// The strongest links of each layer's mean pattern: what a graph draws. Of contributions those to other
/// tokens; of relevance weighted patterns.
struct Graph {
    std::vector<int> blocks;
    std::vector<std::vector<std::vector<Link>>> links;  // [layer][query], heaviest first
    std::vector<Vector> residual_weight;  // [layer][query], in the links' unit (Rollout::scales); empty: 1
};

struct GraphRequest {
    using Answer = Graph;
    IncludedHeads included;
    float share = 0.7f;  // of each row's mass
    Origins by = Origins::rollout;
    OriginsMetric of;  // of relevance
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const;
    bool operator==(const GraphRequest&) const = default;
};

Result<Graph> answer_graph(const Runs& runs, const GraphRequest& request, ThreadPool& pool,
                           const CancelFlag* cancel);

/// Where one token at the top comes from.
struct Rollout {
    Origins by = Origins::rollout;  // never automatic
    /// The share of each token at each depth that the token is made of: row L is that token alone, row 0 the
    /// embeddings. [layers + 1, n]; rows sum to 1.
    Matrix accumulated;
    Matrix replaced;  // of it, what stands in rows that a person put in place further up: no link carries it
    std::vector<float> flow;  // attention_flow, of its sum; empty where it was not asked for or is too large
    /// What a link's weight is times, from the layer above it on: how much of reached(layer + 1, query) it
    /// carries.
    std::vector<float> scales;
    std::string refusal;  // why there is another way than the one that was asked for
    /// The shares at the input, and without the first token's, renormalized, where that stands apart.
    std::vector<float> shares() const;
    static std::vector<float> without_sink(std::vector<float> shares);
};

struct RolloutRequest {
    using Answer = Rollout;
    IncludedHeads included;
    int token = 0;
    Origins by = Origins::rollout;
    Metric metric;  // of relevance
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const;
    bool operator==(const RolloutRequest&) const = default;
};

Result<Rollout> answer_rollout(const Runs& runs, const RolloutRequest& request, ThreadPool& pool,
                               const CancelFlag* cancel);

}  // namespace headlight
