// Relevance: patterns weighted by their gradients, (gradient ∘ pattern)⁺ (Chefer et al. 2021).
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "analysis/attribution/paths.h"

namespace headlight {

/// Takes a walk down while a reverse pass goes through its blocks: R ← R + R · mean over the included heads.
/// Seeds of number i weigh start i. Rows of each head are added up in the order of heads.
class RelevanceWalk : public GradientObserver {
public:
    /// `blocks`: those that carry; others are passed by.
    RelevanceWalk(const Trace& trace, const IncludedHeads& included, std::vector<int> blocks, PathWalk& walk);
    void begin(int block) override;
    void see(int block, const GradientTile& tile) override;
    /// Down to the embeddings.
    void finish();

private:
    void end_block();

    const Trace& trace_;
    const IncludedHeads& included_;
    std::vector<int> blocks_;
    PathWalk& walk_;
    int block_ = -1;
    Matrix sums_;  // [starts · heads, keys]
};

/// [queries, keys] of each block, the mean over the included heads; `take` gets them, the last block first.
/// Heads come on several threads: what comes early waits until those before it are added.
class WeightedPatterns : public GradientObserver {
public:
    using Take = std::function<void(int block, const Matrix& weighted)>;
    WeightedPatterns(const Trace& trace, const IncludedHeads& included, std::vector<int> blocks, Take take);
    void begin(int block) override;
    void see(int block, const GradientTile& tile) override;
    /// The last block's, too.
    void finish();

private:
    struct Part {
        int first_key = 0;
        Matrix weights;
    };
    /// Queries of a tile.
    struct TileRows {
        int next = 0;                 // how many heads are added
        std::map<int, Part> waiting;  // by their number among the included
    };

    const Trace& trace_;
    const IncludedHeads& included_;
    std::vector<int> blocks_;
    Take take_;
    int block_ = -1;
    std::vector<int> heads_;  // the included ones of the block
    Matrix sum_;
    std::mutex mutex_;
    std::map<int, TileRows> tiles_;  // by the first query
};

}  // namespace headlight
