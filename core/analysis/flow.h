// Attention through all layers of a stack: a graph of tokens, rollout and flow (Abnar and Zuidema 2020).
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "analysis/links.h"
#include "analysis/shown.h"

namespace headlight {

/// Which heads carry attention from layer to layer: all of a stack's self-attention but those left out,
/// (block, head).
struct IncludedHeads {
    int stack = 0;
    std::set<std::pair<int, int>> left_out;
    bool operator==(const IncludedHeads&) const = default;
};

/// Self-attention blocks of a stack, the first layer first.
std::vector<int> self_blocks(const ModelConfig& config, int stack);

/// [rows, n] of one layer's mean pattern over its included heads, for queries from `first` on; a layer whose
/// heads are all left out passes everything straight on (the identity).
Matrix layer_pattern(const Trace& trace, int block, const IncludedHeads& included, int first, int rows);

/// The share of each token at each depth that one token at the top is made of: row L is that token alone, row
/// 0 the rollout onto the embeddings. Every layer is ½ (mean pattern) + ½ identity. [layers + 1, n]; rows sum
/// to 1.
Result<Matrix> rollout_from(const Trace& trace, const IncludedHeads& included, int token, ThreadPool& pool,
                            const CancelFlag* cancel = nullptr);

/// [n, n], the rollout of every token. Memory grows with n².
Matrix rollout(const Trace& trace, const IncludedHeads& included, ThreadPool& pool);

/// The largest flow from each embedding to one token at the top, when edges carry at most their weight in
/// ½ (mean pattern) + ½ identity. Empty for more than kMaxFlowTokens tokens: the graph grows with n².
std::vector<float> attention_flow(const Trace& trace, const IncludedHeads& included, int token,
                                  const CancelFlag* cancel = nullptr);
constexpr int kMaxFlowTokens = 96;

/// The strongest links of each layer's mean pattern: what a graph draws.
struct Graph {
    std::vector<int> blocks;
    std::vector<std::vector<std::vector<Link>>> links;  // [layer][query], heaviest first
};

struct GraphWanted {
    using Answer = Graph;
    IncludedHeads included;
    float share = 0.7f;  // of each row's mass
    void fit(const Trace& trace);
    bool fits(const Shown& shown) const;
    bool operator==(const GraphWanted&) const = default;
};

Result<Graph> answer(const Trace& trace, const GraphWanted& wanted, ThreadPool& pool,
                     const CancelFlag* cancel);

/// Where one token at the top comes from.
struct Rollout {
    Matrix reached;           // rollout_from
    std::vector<float> flow;  // attention_flow, of its sum; empty where it was not asked for or is too large
};

struct RolloutWanted {
    using Answer = Rollout;
    IncludedHeads included;
    int token = 0;
    bool flow = false;
    void fit(const Trace& trace);
    bool fits(const Shown& shown) const;
    bool operator==(const RolloutWanted&) const = default;
};

Result<Rollout> answer(const Trace& trace, const RolloutWanted& wanted, ThreadPool& pool,
                       const CancelFlag* cancel);

}  // namespace headlight
