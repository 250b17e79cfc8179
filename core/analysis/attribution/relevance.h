// Computes relevance: patterns weighted by their gradients, (gradient ∘ pattern)⁺ (Chefer et al. 2021).
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "analysis/attribution/paths.h"

namespace headlight {

/// R ← R + R · mean over the included heads of (gradient ∘ pattern)⁺: moves a walk down while a reverse pass
/// goes through its blocks. Seeds of output i weight start i. Adds the rows of heads in the order of heads.
class RelevanceWalk : public GradientObserver {
public:
    /// `blocks`: those that carry relevance; others are passed by.
    RelevanceWalk(const Trace& trace, const IncludedHeads& included, std::vector<int> blocks, PathWalk& walk);
    void begin(int block) override;
    void see(int block, const GradientTile& tile) override;
    /// Goes down to the embeddings.
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

/// [queries, keys] of each block, averaged over the included heads; passes them to `take`, the last block
/// first. Heads arrive on several threads: tiles that are early wait until those of lower heads are added.
class WeightedPatterns : public GradientObserver {
public:
    using Take = std::function<void(int block, const Matrix& weighted)>;
    WeightedPatterns(const Trace& trace, const IncludedHeads& included, std::vector<int> blocks, Take take);
    void begin(int block) override;
    void see(int block, const GradientTile& tile) override;
    /// Delivers the last block's too.
    void finish();

private:
    struct Part {
        int first_key = 0;
        Matrix weights;
    };
    struct TileRows {
        int next = 0;                 // heads added so far
        std::map<int, Part> waiting;  // by index among the included
    };

    const Trace& trace_;
    const IncludedHeads& included_;
    std::vector<int> blocks_;
    Take take_;
    int block_ = -1;
    std::vector<int> heads_;  // included heads of the block
    Matrix sum_;
    std::mutex mutex_;
    std::map<int, TileRows> tiles_;  // by the first query
};

}  // namespace headlight
