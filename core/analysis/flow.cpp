#include "analysis/flow.h"

#include <algorithm>
#include <limits>

#include "base/cast.h"
#include "base/check.h"
#include "base/memory.h"

namespace headlight {

namespace {

constexpr int kBlock = 64;

/// Dinic's algorithm (1970) on a small layered graph.
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
    /// Where `cancel` is set on the way, less.
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

    std::vector<Edge> edges_;  // each with its reverse behind it
    std::vector<std::vector<size_t>> out_;
    std::vector<int> level_;
    std::vector<size_t> next_;
};

}  // namespace

std::vector<int> self_blocks(const ModelConfig& c, int stack) {
    std::vector<int> out;
    for (int layer = 0; layer < c.stacks[stack].layers; ++layer)
        out.push_back(c.blocks_of(stack, layer).front());
    return out;
}

Matrix layer_pattern(const Trace& trace, int block, const IncludedHeads& included, int first, int rows) {
    Matrix sum = Matrix::Zero(rows, trace.key_count(block));
    int count = 0;
    for (int h = 0; h < trace.config().heads(block); ++h) {
        if (included.left_out.count({block, h})) continue;
        sum += trace.pattern_rows(block, h, first, rows);
        ++count;
    }
    if (count) return sum / float(count);
    for (int i = 0; i < rows; ++i) sum(i, first + i) = 1;
    return sum;
}

Result<Matrix> rollout_from(const Trace& trace, const IncludedHeads& included, int token, ThreadPool& pool,
                            const CancelFlag* cancel) {
    const auto blocks = self_blocks(trace.config(), included.stack);
    const int n = trace.request.inputs[included.stack].size(), layers = isize(blocks),
              tiles = (n + kBlock - 1) / kBlock;
    HEADLIGHT_CHECK(token >= 0 && token < n);
    Matrix reached = Matrix::Zero(layers + 1, n);
    reached(layers, token) = 1;
    for (int l = layers - 1; l >= 0; --l) {
        if (stopped(cancel)) return cancelled();
        Matrix parts = Matrix::Zero(tiles, n);
        pool.run(tiles, [&](int b) {
            const int first = b * kBlock, rows = std::min(kBlock, n - first);
            const auto above = reached.row(l + 1).segment(first, rows);
            if (above.maxCoeff() > 0)
                parts.row(b) = above * layer_pattern(trace, blocks[l], included, first, rows);
        });
        reached.row(l) = 0.5f * parts.colwise().sum() + 0.5f * reached.row(l + 1);
    }
    return reached;
}

Matrix rollout(const Trace& trace, const IncludedHeads& included, ThreadPool& pool) {
    const int n = trace.request.inputs[included.stack].size();
    check_fits(int64_t{n} * n * 8);
    Matrix out = Matrix::Identity(n, n);
    for (const int block : self_blocks(trace.config(), included.stack)) {
        const Matrix below = out;
        pool.run((n + kBlock - 1) / kBlock, [&](int b) {
            const int first = b * kBlock, rows = std::min(kBlock, n - first);
            out.middleRows(first, rows) = 0.5f * layer_pattern(trace, block, included, first, rows) * below +
                                          0.5f * below.middleRows(first, rows);
        });
    }
    return out;
}

std::vector<float> attention_flow(const Trace& trace, const IncludedHeads& included, int token,
                                  const CancelFlag* cancel) {
    const auto blocks = self_blocks(trace.config(), included.stack);
    const int n = trace.request.inputs[included.stack].size(), layers = isize(blocks);
    if (n > kMaxFlowTokens) return {};
    HEADLIGHT_CHECK(token >= 0 && token < n);
    FlowNetwork network(n * (layers + 1));
    for (int l = 0; l < layers; ++l) {
        const Matrix pattern = layer_pattern(trace, blocks[l], included, 0, n);
        for (int q = 0; q < n; ++q)
            for (int k = 0; k < n; ++k)
                if (const float weight = 0.5f * pattern(q, k) + (q == k ? 0.5f : 0.0f); weight > 1e-5f)
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
