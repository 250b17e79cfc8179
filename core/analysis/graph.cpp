// What a graph draws, and where one of its tokens comes from, in each of several ways.
#include <algorithm>
#include <functional>
#include <mutex>
#include <utility>

#include "analysis/contribution.h"
#include "analysis/flow.h"
#include "analysis/influence.h"
#include "base/cast.h"
#include "base/memory.h"

namespace headlight {

namespace {

constexpr int kGraphTile = 64, kMaxLinks = 12;

/// [n, n] of each layer of a stack, the mean over included heads of (gradient ∘ pattern)⁺; `take` gets them
/// from the last layer down.
class WeightedPatterns : public GradientObserver {
public:
    using Take = std::function<void(int layer, const Matrix& weighted)>;
    WeightedPatterns(const Trace& trace, const IncludedHeads& included, Take take)
        : trace_(trace),
          included_(included),
          blocks_(self_blocks(trace.config(), included.stack)),
          take_(std::move(take)) {}
    void begin(int block) override {
        finish();
        const auto at = std::find(blocks_.begin(), blocks_.end(), block);
        if (at == blocks_.end()) return;
        layer_ = narrow<int>(at - blocks_.begin());
        check_fits(int64_t{trace_.query_count(block)} * trace_.key_count(block) * 4);
        sum_ = Matrix::Zero(trace_.query_count(block), trace_.key_count(block));
        heads_ = 0;
        for (int h = 0; h < trace_.config().heads(block); ++h)
            heads_ += !included_.left_out.count({block, h});
    }
    void see(int block, const GradientTile& tile) override {
        const PatternTile& at = tile.pattern;
        if (layer_ < 0 || included_.left_out.count({block, at.head})) return;
        const Matrix weighted = tile.by_weights.cwiseProduct(at.weights).cwiseMax(0.0f) / float(heads_);
        std::lock_guard lock(mutex_);
        sum_.block(at.first, at.first_key, weighted.rows(), weighted.cols()) += weighted;
    }
    /// The last block's, too.
    void finish() {
        if (layer_ >= 0) take_(layer_, sum_);
        layer_ = -1;
    }

private:
    const Trace& trace_;
    const IncludedHeads& included_;
    std::vector<int> blocks_;
    Take take_;
    std::mutex mutex_;  // heads lie on several threads
    int layer_ = -1, heads_ = 0;
    Matrix sum_;
};

/// Calls `take` with the weighted patterns of each layer. An error says why there is no relevance.
Status weighted_patterns(const Runs& runs, const IncludedHeads& included, const OriginsMetric& of,
                         const WeightedPatterns::Take& take, ThreadPool& pool, const CancelFlag* cancel) {
    const Trace& trace = runs.shown;
    if (!trace.has_weights())
        return Error{"A trace holds no weights, so relevance cannot be followed back; this is the rollout."};
    if (included.stack + 1 != isize(trace.config().stacks))
        return Error{"Relevance begins at the metric, in the decoder; this is the rollout."};
    Metric metric = of.metric;
    metric.position = of.token;
    TRY(metric, resolved(metric, runs.own ? *runs.own : trace, pool));
    TRY(const GradientSeed seed, metric_seed(metric, trace, runs.own, pool));
    WeightedPatterns observer(trace, included, take);
    TRY([[maybe_unused]] const auto done, embedding_gradients(trace, {&seed, 1}, pool, cancel, &observer));
    observer.finish();
    return success();
}

/// Down from the token, each layer by its matrix.
Status reach_by_relevance(const Runs& runs, const RolloutWanted& w, Rollout& out, ThreadPool& pool,
                          const CancelFlag* cancel) {
    const int n = runs.shown.request.inputs[w.included.stack].size(),
              layers = isize(self_blocks(runs.shown.config(), w.included.stack));
    Matrix reached = Matrix::Zero(layers + 1, n);
    std::vector<float> carried(layers, 1);
    reached(layers, w.token) = 1;
    int below = layers;
    const auto take = [&](int layer, const Matrix& weighted) {
        for (; below > layer + 1; --below) reached.row(below - 1) = reached.row(below);  // skipped blocks
        below = layer;
        reached.row(layer) = reached.row(layer + 1) + reached.row(layer + 1) * weighted;
        carried[layer] = 1 / std::max(reached.row(layer).sum(), 1e-30f);
        reached.row(layer) *= carried[layer];
    };
    TRY_STATUS(weighted_patterns(runs, w.included, {w.metric, w.token}, take, pool, cancel));
    for (; below > 0; --below) reached.row(below - 1) = reached.row(below);
    out.by = Origins::relevance;
    out.reached = std::move(reached);
    out.carried = std::move(carried);
    return success();
}

Status reach_by_contributions(const Trace& trace, const RolloutWanted& w, Rollout& out, ThreadPool& pool,
                              const CancelFlag* cancel) {
    const auto blocks = self_blocks(trace.config(), w.included.stack);
    const int n = trace.request.inputs[w.included.stack].size(), layers = isize(blocks);
    const BlockShares of_block = contribution_shares(trace, w.included, pool);
    Matrix reached = Matrix::Zero(layers + 1, n);
    reached(layers, w.token) = 1;
    for (int l = layers - 1; l >= 0; --l) {
        if (stopped(cancel)) return cancelled();
        reached.row(l) = reached.row(l + 1);
        if (trace.rule(blocks[l]).skipped) continue;
        const SharesOf shares_of = of_block(blocks[l]);
        const int tiles = (n + kGraphTile - 1) / kGraphTile;
        Matrix parts = Matrix::Zero(tiles, n);
        pool.run(tiles, [&](int tile) {
            const int first = tile * kGraphTile, rows = std::min(kGraphTile, n - first);
            const auto above = reached.row(l + 1).segment(first, rows);
            if (above.maxCoeff() > 0) parts.row(tile) = above * shares_of(first, rows).keys;
        });
        reached.row(l) = parts.colwise().sum();
    }
    out.by = Origins::contribution;
    out.reached = std::move(reached);
    out.carried.assign(layers, 1);
    return success();
}

std::vector<Link> links_of(const Eigen::RowVectorXf& row, float share) {
    return heaviest_links(row.data(), KeyRange{0, narrow<int>(row.size())}, share * row.sum(), kMaxLinks);
}

Status link_by_relevance(const Runs& runs, const GraphWanted& w, Graph& g, ThreadPool& pool,
                         const CancelFlag* cancel) {
    const auto take = [&](int layer, const Matrix& weighted) {
        for (Index q = 0; q < weighted.rows(); ++q) g.links[layer][q] = links_of(weighted.row(q), w.share);
    };
    return weighted_patterns(runs, w.included, w.of, take, pool, cancel);
}

void link_by_shares(const Trace& trace, const GraphWanted& w, Graph& g, ThreadPool& pool) {
    const int n = trace.request.inputs[w.included.stack].size(), tiles = (n + kGraphTile - 1) / kGraphTile;
    const bool contributions = w.by == Origins::contribution && trace.has_weights();
    const BlockShares of_block = contribution_shares(trace, w.included, pool);
    for (size_t l = 0; l < g.blocks.size(); ++l) {
        pool.stop_point();
        if (contributions) g.stays.push_back(Vector::Ones(n));
        if (contributions && trace.rule(g.blocks[l]).skipped) continue;
        const SharesOf shares_of = contributions ? of_block(g.blocks[l]) : SharesOf();
        pool.run(tiles, [&](int tile) {
            const int first = tile * kGraphTile, count = std::min(kGraphTile, n - first);
            Matrix rows = contributions ? shares_of(first, count).keys
                                        : layer_pattern(trace, g.blocks[l], w.included, first, count);
            for (int i = 0; i < count; ++i) {
                if (contributions) g.stays[l][first + i] = std::exchange(rows(i, first + i), 0.0f);
                g.links[l][first + i] = links_of(rows.row(i), w.share);
            }
        });
    }
}

}  // namespace

Result<Graph> answer(const Runs& runs, const GraphWanted& w, ThreadPool& pool, const CancelFlag* cancel) {
    const Trace& trace = runs.shown;
    Graph g{self_blocks(trace.config(), w.included.stack), {}, {}};
    const int n = trace.request.inputs[w.included.stack].size();
    g.links.assign(g.blocks.size(), std::vector<std::vector<Link>>(n));
    const CancelScope scope(pool, cancel);
    if (w.by == Origins::relevance) {
        const Status linked = link_by_relevance(runs, w, g, pool, cancel);
        if (linked) return g;
        if (linked.error().cancelled) return linked.error();
    }
    link_by_shares(trace, w, g, pool);
    return g;
}

Result<Rollout> answer(const Runs& runs, const RolloutWanted& w, ThreadPool& pool, const CancelFlag* cancel) {
    const Trace& trace = runs.shown;
    const CancelScope scope(pool, cancel);
    Rollout o;
    if (w.by == Origins::relevance) {
        const Status reached = reach_by_relevance(runs, w, o, pool, cancel);
        if (reached) return o;
        if (reached.error().cancelled) return reached.error();
        o.refusal = reached.error().message;
    }
    const bool contributions = w.by == Origins::contribution && trace.has_weights();
    if (w.by == Origins::contribution && !contributions)
        o.refusal = "A trace holds no weights, so contributions cannot be computed; this is the rollout.";
    if (!contributions) {
        TRY(o.reached, rollout_from(trace, w.included, w.token, pool, cancel));
        o.carried.assign(size_t(o.reached.rows() - 1), 0.5f);
    }
    const bool sink = w.by == Origins::automatic && w.token > 0 && o.reached(0, 0) > 0.5f;
    if (contributions || (trace.has_weights() && sink)) {
        TRY_STATUS(reach_by_contributions(trace, w, o, pool, cancel));
        return o;
    }
    if (w.by != Origins::flow) return o;
    o.by = Origins::flow;
    o.flow = attention_flow(trace, w.included, w.token, cancel);
    float sum = 0;
    for (const float f : o.flow) sum += f;
    for (float& f : o.flow) f /= std::max(sum, 1e-12f);
    if (stopped(cancel)) return cancelled();
    return o;
}

std::vector<float> Rollout::shares() const {
    if (!flow.empty()) return flow;
    return {reached.row(0).begin(), reached.row(0).end()};
}

std::vector<float> Rollout::without_sink(std::vector<float> shares) {
    float rest = 0;
    for (size_t i = 1; i < shares.size(); ++i) rest += shares[i];
    for (size_t i = 1; i < shares.size() && rest > 0; ++i) shares[i] /= rest;
    return shares;
}

void GraphWanted::fit(const Trace& t) {
    included.stack = nearest_stack(t, included.stack);
    of.token = nearest(of.token, t.request.inputs[included.stack].size());
    if (by != Origins::relevance) of = {};
}
bool GraphWanted::fits(const Shown& shown) const { return included.stack == shown.stack(); }

void RolloutWanted::fit(const Trace& t) {
    included.stack = nearest_stack(t, included.stack);
    token = nearest(token, t.request.inputs[included.stack].size());
    if (by != Origins::relevance) metric = {};
}
bool RolloutWanted::fits(const Shown& shown) const { return included.stack == shown.stack(); }

}  // namespace headlight
