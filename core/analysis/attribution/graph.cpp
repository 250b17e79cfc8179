// Builds graphs of attention and traces tokens down through them, in each of several ways.
#include <algorithm>

#include "analysis/attribution/contribution.h"
#include "analysis/attribution/flow.h"
#include "analysis/attribution/influence.h"
#include "analysis/attribution/relevance.h"
#include "base/cast.h"
#include "base/check.h"

namespace headlight {

namespace {

constexpr int kGraphTile = 64, kMaxLinks = 12;

std::vector<int> self_blocks_down(const Trace& trace, const IncludedHeads& included) {
    std::vector<int> out = self_blocks(trace.config(), included.stack);
    std::reverse(out.begin(), out.end());
    return out;
}

/// Returns the seed of relevance, or why there is none.
Result<GradientSeed> relevance_seed(const Runs& runs, const IncludedHeads& included, const OriginsMetric& of,
                                    ThreadPool& pool) {
    const Trace& trace = runs.shown;
    if (!trace.has_weights())
        return Error{"A trace holds no weights, so relevance cannot be followed back; this is the rollout."};
    if (included.stack + 1 != isize(trace.config().stacks))
        return Error{"Relevance begins at the metric, in the decoder; this is the rollout."};
    Metric metric = of.metric;
    metric.position = of.token;
    TRY(metric, resolved(metric, runs.own ? *runs.own : trace, pool));
    return metric_seed(metric, trace, runs.own, pool);
}

/// Records a token's way down through its stack's self-attention, depth by depth.
struct TokenWalk {
    TokenWalk(const Trace& trace, const RolloutRequest& w, float part, Rollout& out)
        : walk(trace, w.included.stack, trace.config().stacks[w.included.stack].depth() - 1,
               start_of(trace, w)) {
        const int layers = trace.config().stacks[w.included.stack].depth();
        out.accumulated = out.replaced = Matrix::Zero(layers + 1, walk.moving(w.included.stack).cols());
        out.accumulated(layers, w.token) = 1;
        out.scales.assign(size_t(layers), part);
        walk.passed_layer = [this, &out, own = w.included.stack](int stack, int layer) {
            if (stack != own) return;
            if (normalized) {
                out.scales[layer] = 1 / std::max(walk.at(stack).sum(), 1e-30f);
                walk.scale(out.scales[layer]);
            }
            out.accumulated.row(layer) = walk.at(stack).row(0);
            out.replaced.row(layer) = walk.replaced(stack).row(0);
        };
    }
    static Matrix start_of(const Trace& trace, const RolloutRequest& w) {
        Matrix out = Matrix::Zero(1, trace.request.inputs[w.included.stack].size());
        HEADLIGHT_CHECK(w.token >= 0 && w.token < out.cols());
        out(0, w.token) = 1;
        return out;
    }
    PathWalk walk;
    bool normalized = false;  // normalizes each depth to sum to 1
};

/// Normalizes each depth to shares, because relevance grows from layer to layer.
Status reach_by_relevance(const Runs& runs, const RolloutRequest& w, Rollout& out, ThreadPool& pool,
                          const CancelFlag* cancel) {
    TRY(const GradientSeed seed, relevance_seed(runs, w.included, {w.metric, w.token}, pool));
    TokenWalk down(runs.shown, w, 1, out);
    down.normalized = true;
    RelevanceWalk observer(runs.shown, w.included, self_blocks(runs.shown.config(), w.included.stack),
                           down.walk);
    TRY([[maybe_unused]] const auto done,
        embedding_gradients(runs.shown, {&seed, 1}, pool, cancel, &observer));
    observer.finish();
    out.by = Origins::relevance;
    return success();
}

void reach_by_shares(const Trace& trace, const RolloutRequest& w, Origins by, Rollout& out,
                     ThreadPool& pool) {
    const bool contributions = by == Origins::contribution;
    TokenWalk down(trace, w, contributions ? 1 : 0.5f, out);
    down.walk.through(
        self_blocks_down(trace, w.included),
        contributions ? contribution_shares(trace, w.included, pool) : rollout_shares(trace, w.included),
        pool);
    out.by = by;
}

std::vector<Link> links_of(const Eigen::RowVectorXf& row, float share) {
    return heaviest_links(row.data(), KeyRange{0, narrow<int>(row.size())}, share * row.sum(), kMaxLinks);
}

Status link_by_relevance(const Runs& runs, const GraphRequest& w, Graph& g, ThreadPool& pool,
                         const CancelFlag* cancel) {
    TRY(const GradientSeed seed, relevance_seed(runs, w.included, w.of, pool));
    const auto take = [&](int block, const Matrix& weighted) {
        auto& links = g.links[size_t(runs.shown.config().block(block).layer)];
        for (Index q = 0; q < weighted.rows(); ++q) links[size_t(q)] = links_of(weighted.row(q), w.share);
    };
    WeightedPatterns observer(runs.shown, w.included, g.blocks, take);
    TRY([[maybe_unused]] const auto done,
        embedding_gradients(runs.shown, {&seed, 1}, pool, cancel, &observer));
    observer.finish();
    return success();
}

void link_by_shares(const Trace& trace, const GraphRequest& w, Graph& g, ThreadPool& pool) {
    const int n = trace.request.inputs[w.included.stack].size(), tiles = (n + kGraphTile - 1) / kGraphTile;
    const bool contributions = w.by == Origins::contribution && missing_contributions(trace).empty();
    const float unit = contributions ? 1 : 2;  // a rollout's links are the mean pattern
    const BlockShares of_block =
        contributions ? contribution_shares(trace, w.included, pool) : rollout_shares(trace, w.included);
    for (size_t l = 0; l < g.blocks.size(); ++l) {
        pool.stop_point();
        g.residual_weight.push_back(Vector::Constant(n, unit));
        g.sinks.push_back(Vector::Zero(n));
        if (trace.rule(g.blocks[l]).skipped) continue;
        const SharesOf shares_of = of_block(g.blocks[l]);
        pool.run(tiles, [&](int tile) {
            const int first = tile * kGraphTile, count = std::min(kGraphTile, n - first);
            const RowShares shares = shares_of(first, count);
            g.residual_weight[l].segment(first, count) = unit * shares.residual_weight;
            if (shares.sinks.size()) g.sinks[l].segment(first, count) = unit * shares.sinks;
            for (int i = 0; i < count; ++i)
                g.links[l][size_t(first + i)] = links_of(unit * shares.keys.row(i), w.share);
        });
    }
}

}  // namespace

Result<Graph> answer_graph(const Runs& runs, const GraphRequest& w, ThreadPool& pool,
                           const CancelFlag* cancel) {
    const Trace& trace = runs.shown;
    Graph g{self_blocks(trace.config(), w.included.stack), {}, {}, {}};
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

namespace {

Result<Rollout> origins_of(const Runs& runs, const RolloutRequest& w, ThreadPool& pool,
                           const CancelFlag* cancel) {
    const Trace& trace = runs.shown;
    Rollout o;
    if (w.by == Origins::relevance) {
        const Status reached = reach_by_relevance(runs, w, o, pool, cancel);
        if (reached) return o;
        if (reached.error().cancelled) return reached.error();
        o.refusal = reached.error().message;
    }
    const std::string missing = missing_contributions(trace);
    const bool contributions = w.by == Origins::contribution && missing.empty();
    if (w.by == Origins::contribution && !contributions) o.refusal = missing + "; this is the rollout.";
    reach_by_shares(trace, w, contributions ? Origins::contribution : Origins::rollout, o, pool);
    const bool sink = w.by == Origins::automatic && w.token > 0 && o.accumulated(0, 0) > 0.5f;
    if (sink && missing.empty()) reach_by_shares(trace, w, Origins::contribution, o, pool);
    if (w.by != Origins::flow) return o;
    o.by = Origins::flow;
    o.flow = attention_flow(trace, w.included, w.token, cancel);
    float sum = 0;
    for (const float f : o.flow) sum += f;
    for (float& f : o.flow) f /= std::max(sum, 1e-12f);
    if (stopped(cancel)) return cancelled();
    return o;
}

}  // namespace

Result<Rollout> answer_rollout(const Runs& runs, const RolloutRequest& w, ThreadPool& pool,
                               const CancelFlag* cancel) {
    return guarded([&] {
        const CancelScope scope(pool, cancel);
        return origins_of(runs, w, pool, cancel);
    });
}

std::vector<float> Rollout::shares() const {
    if (!flow.empty()) return flow;
    return {accumulated.row(0).begin(), accumulated.row(0).end()};
}

std::vector<float> Rollout::without_sink(std::vector<float> shares) {
    float rest = 0;
    for (size_t i = 1; i < shares.size(); ++i) rest += shares[i];
    for (size_t i = 1; i < shares.size() && rest > 0; ++i) shares[i] /= rest;
    return shares;
}

void GraphRequest::clamp_to(const Trace& t) {
    included.stack = nearest_stack(t, included.stack);
    of.token = nearest(of.token, t.request.inputs[included.stack].size());
    if (by != Origins::relevance) of = {};
}
bool GraphRequest::valid_for(const Shown& shown) const { return included.stack == shown.stack(); }

void RolloutRequest::clamp_to(const Trace& t) {
    included.stack = nearest_stack(t, included.stack);
    token = nearest(token, t.request.inputs[included.stack].size());
    if (by != Origins::relevance) metric = {};
}
bool RolloutRequest::valid_for(const Shown& shown) const { return included.stack == shown.stack(); }

}  // namespace headlight
