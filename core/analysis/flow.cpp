#include "analysis/flow.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/memory.h"

namespace headlight {

namespace {

constexpr int kBlock = 64, kMostLinks = 12;

/// Dinic's algorithm (1970) on a small layered graph.
class FlowNetwork {
public:
    explicit FlowNetwork(int nodes)
        : out_(static_cast<size_t>(nodes)),
          level_(static_cast<size_t>(nodes)),
          next_(static_cast<size_t>(nodes)) {}

    void add(int from, int to, float capacity) {
        out_[static_cast<size_t>(from)].push_back(edges_.size());
        edges_.push_back({to, capacity, capacity});
        out_[static_cast<size_t>(to)].push_back(edges_.size());
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
            while (const float sent = push(source, sink, std::numeric_limits<float>::max())) total += sent;
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
        level_[static_cast<size_t>(source)] = 0;
        std::vector<int> queue{source};
        for (size_t at = 0; at < queue.size(); ++at)
            for (const size_t i : out_[static_cast<size_t>(queue[at])]) {
                const Edge& e = edges_[i];
                if (e.left <= kNothing || level_[static_cast<size_t>(e.to)] >= 0) continue;
                level_[static_cast<size_t>(e.to)] = level_[static_cast<size_t>(queue[at])] + 1;
                queue.push_back(e.to);
            }
        return level_[static_cast<size_t>(sink)] >= 0;
    }
    float push(int node, int sink, float most) {
        if (node == sink) return most;
        const auto n = static_cast<size_t>(node);
        for (; next_[n] < out_[n].size(); ++next_[n]) {
            Edge& e = edges_[out_[n][next_[n]]];
            if (e.left <= kNothing || level_[static_cast<size_t>(e.to)] != level_[n] + 1) continue;
            const float sent = push(e.to, sink, std::min(most, e.left));
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

std::vector<int> self_sites(const ModelConfig& c, int stack) {
    std::vector<int> out;
    for (int layer = 0; layer < c.stacks[static_cast<size_t>(stack)].layers; ++layer)
        out.push_back(c.sites_of(stack, layer).front());
    return out;
}

Matrix mean_pattern(const Trace& trace, int site, const Carriers& carriers, int first, int rows) {
    Matrix sum = Matrix::Zero(rows, trace.key_count(site));
    int count = 0;
    for (int h = 0; h < trace.config().heads(site); ++h) {
        if (carriers.left_out.count({site, h})) continue;
        sum += trace.pattern_rows(site, h, first, rows);
        ++count;
    }
    if (count) return sum / static_cast<float>(count);
    for (int i = 0; i < rows; ++i) sum(i, first + i) = 1;
    return sum;
}

Result<Matrix> rollout_from(const Trace& trace, const Carriers& carriers, int token, ThreadPool& pool,
                            const CancelFlag* cancel) {
    const auto sites = self_sites(trace.config(), carriers.stack);
    const int n = trace.request.inputs[static_cast<size_t>(carriers.stack)].size(),
              layers = static_cast<int>(sites.size()), blocks = (n + kBlock - 1) / kBlock;
    HEADLIGHT_CHECK(token >= 0 && token < n);
    Matrix reached = Matrix::Zero(layers + 1, n);
    reached(layers, token) = 1;
    for (int l = layers - 1; l >= 0; --l) {
        if (stopped(cancel)) return cancelled();
        Matrix parts = Matrix::Zero(blocks, n);
        pool.run(blocks, [&](int b) {
            const int first = b * kBlock, rows = std::min(kBlock, n - first);
            const auto above = reached.row(l + 1).segment(first, rows);
            if (above.maxCoeff() > 0)
                parts.row(b) =
                    above * mean_pattern(trace, sites[static_cast<size_t>(l)], carriers, first, rows);
        });
        reached.row(l) = 0.5f * parts.colwise().sum() + 0.5f * reached.row(l + 1);
    }
    return reached;
}

Matrix rollout(const Trace& trace, const Carriers& carriers, ThreadPool& pool) {
    const int n = trace.request.inputs[static_cast<size_t>(carriers.stack)].size();
    check_fits(int64_t{n} * n * 8);
    Matrix out = Matrix::Identity(n, n);
    for (const int site : self_sites(trace.config(), carriers.stack)) {
        const Matrix below = out;
        pool.run((n + kBlock - 1) / kBlock, [&](int b) {
            const int first = b * kBlock, rows = std::min(kBlock, n - first);
            out.middleRows(first, rows) = 0.5f * mean_pattern(trace, site, carriers, first, rows) * below +
                                          0.5f * below.middleRows(first, rows);
        });
    }
    return out;
}

std::vector<float> attention_flow(const Trace& trace, const Carriers& carriers, int token,
                                  const CancelFlag* cancel) {
    const auto sites = self_sites(trace.config(), carriers.stack);
    const int n = trace.request.inputs[static_cast<size_t>(carriers.stack)].size(),
              layers = static_cast<int>(sites.size());
    if (n > kMostFlowTokens) return {};
    HEADLIGHT_CHECK(token >= 0 && token < n);
    FlowNetwork network(n * (layers + 1));
    for (int l = 0; l < layers; ++l) {
        const Matrix pattern = mean_pattern(trace, sites[static_cast<size_t>(l)], carriers, 0, n);
        for (int q = 0; q < n; ++q)
            for (int k = 0; k < n; ++k)
                if (const float weight = 0.5f * pattern(q, k) + (q == k ? 0.5f : 0.0f); weight > 1e-5f)
                    network.add(l * n + k, (l + 1) * n + q, weight);
    }
    std::vector<float> flow(static_cast<size_t>(n));
    for (int source = 0; source < n; ++source) {
        if (stopped(cancel)) return {};
        network.reset();
        flow[static_cast<size_t>(source)] = network.largest_flow(source, layers * n + token, cancel);
    }
    return flow;
}

Result<Graph> find(const Trace& trace, const GraphWanted& w, ThreadPool& pool, const CancelFlag* cancel) {
    Graph g{self_sites(trace.config(), w.carriers.stack), {}};
    const int n = trace.request.inputs[static_cast<size_t>(w.carriers.stack)].size();
    g.links.assign(g.sites.size(), std::vector<std::vector<Link>>(static_cast<size_t>(n)));
    const int blocks = (n + kBlock - 1) / kBlock;
    const CancelScope scope(pool, cancel);
    pool.run(blocks * static_cast<int>(g.sites.size()), [&](int tile) {
        const auto l = static_cast<size_t>(tile / blocks);
        const int first = tile % blocks * kBlock;
        const Matrix rows = mean_pattern(trace, g.sites[l], w.carriers, first, std::min(kBlock, n - first));
        for (Index i = 0; i < rows.rows(); ++i)
            g.links[l][static_cast<size_t>(first + i)] = heaviest_links(
                rows.row(i).data(), KeyRange{0, static_cast<int>(rows.cols())}, w.share, kMostLinks);
    });
    return g;
}

Result<Origins> find(const Trace& trace, const OriginsWanted& w, ThreadPool& pool, const CancelFlag* cancel) {
    Origins o;
    TRY(o.reached, rollout_from(trace, w.carriers, w.token, pool, cancel));
    if (!w.flow) return o;
    o.flow = attention_flow(trace, w.carriers, w.token, cancel);
    float sum = 0;
    for (const float f : o.flow) sum += f;
    for (float& f : o.flow) f /= std::max(sum, 1e-12f);
    if (stopped(cancel)) return cancelled();
    return o;
}

}  // namespace headlight
