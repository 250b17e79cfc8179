// Computes attention flow.
#include "analysis/attribution/flow.h"

#include <algorithm>
#include <limits>

#include "base/cast.h"
#include "base/check.h"

namespace headlight {

namespace {

/// Runs Dinic's algorithm (1970) on a small layered graph.
class FlowNetwork {
public:
    explicit FlowNetwork(int nodes) : out_(nodes), level_(nodes), next_(nodes) {}

    void add(int from, int to, float capacity) {
        out_[from].push_back(edges_.size());
        edges_.push_back({to, capacity, capacity});
        out_[to].push_back(edges_.size());
        edges_.push_back({from, 0, 0});
    }
    void reset() {
        for (Edge& e : edges_) e.left = e.capacity;
    }
    /// Returns the maximum flow; less if `cancel` is set meanwhile.
    float largest_flow(int source, int sink, const CancelFlag* cancel) {
        float total = 0;
        while (!stopped(cancel) && find_levels(source, sink)) {
            std::fill(next_.begin(), next_.end(), size_t{0});
            for (float sent; (sent = push(source, sink, std::numeric_limits<float>::max())) > 0;)
                total += sent;
        }
        return total;
    }

private:
    static constexpr float kNothing = 1e-6f;
    struct Edge {
        int to;
        float left, capacity;
    };
    bool find_levels(int source, int sink) {
        std::fill(level_.begin(), level_.end(), -1);
        level_[source] = 0;
        std::vector<int> queue{source};
        for (size_t at = 0; at < queue.size(); ++at)
            for (const size_t i : out_[queue[at]]) {
                const Edge& e = edges_[i];
                if (e.left <= kNothing || level_[e.to] >= 0) continue;
                level_[e.to] = level_[queue[at]] + 1;
                queue.push_back(e.to);
            }
        return level_[sink] >= 0;
    }
    float push(int node, int sink, float max) {
        if (node == sink) return max;
        const size_t n = node;
        for (; next_[n] < out_[n].size(); ++next_[n]) {
            Edge& e = edges_[out_[n][next_[n]]];
            if (e.left <= kNothing || level_[e.to] != level_[n] + 1) continue;
            const float sent = push(e.to, sink, std::min(max, e.left));
            if (sent <= 0) continue;
            e.left -= sent;
            edges_[out_[n][next_[n]] ^ 1].left += sent;
            return sent;
        }
        return 0;
    }

    std::vector<Edge> edges_;  // each followed by its reverse
    std::vector<std::vector<size_t>> out_;
    std::vector<int> level_;
    std::vector<size_t> next_;
};

}  // namespace

std::vector<float> attention_flow(const Trace& trace, const IncludedHeads& included, int token,
                                  const CancelFlag* cancel) {
    const auto blocks = self_blocks(trace.config(), included.stack);
    const int n = trace.request.inputs[included.stack].size(), layers = isize(blocks);
    if (n > kMaxFlowTokens) return {};
    HEADLIGHT_CHECK(token >= 0 && token < n);
    FlowNetwork network(n * (layers + 1));
    const BlockShares of_block = rollout_shares(trace, included);
    for (int l = 0; l < layers; ++l) {
        RowShares shares = of_block(blocks[l])(0, n);
        shares.keys.diagonal() += shares.residual_weight;
        if (l + 1 < layers)
            for (const int row : replaced_rows(trace, included.stack, l + 1)) {
                shares.keys.row(row).setZero();
                network.add(row, (l + 1) * n + row, 1);  // replaced rows keep their flow: no key contributed
            }
        for (int q = 0; q < n; ++q)
            for (int k = 0; k < n; ++k)
                if (const float weight = shares.keys(q, k); weight > 1e-5f)
                    network.add(l * n + k, (l + 1) * n + q, weight);
    }
    std::vector<float> flow(n);
    for (int source = 0; source < n; ++source) {
        if (stopped(cancel)) return {};
        network.reset();
        flow[source] = network.largest_flow(source, layers * n + token, cancel);
    }
    return flow;
}

}  // namespace headlight
