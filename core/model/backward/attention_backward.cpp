// Propagates gradients back through attention. For a row p of the pattern P the Jacobian of softmax is
// diag(p) − p pᵀ, so that dP = dz vᵀ, dS = P ∘ (dP − rowsum(P ∘ dP)), dv = Pᵀ dz, dq = dS k · scale, dk = dSᵀ
// q · scale.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/spare.h"
#include "kernels/choice.h"
#include "model/attention_products.h"
#include "model/backward/vector_jacobian.h"

namespace headlight {

namespace {

/// C = A B, or C += A B if `added`, by panels of B on the calling thread; a: [rows, depth], b: [depth,
/// width].
void multiply(ConstMatrixRef a, ConstMatrixRef b, MatrixRef c, bool added) {
    constexpr Index kDepth = 192;  // a panel of b fits the first-level cache
    static thread_local std::vector<float> panel(kPanel * kDepth);
    for (Index k0 = 0; k0 < b.rows(); k0 += kDepth)
        for (Index o = 0; o < b.cols(); o += kPanel) {
            const Index depth = std::min(kDepth, b.rows() - k0),
                        width = std::min<Index>(kPanel, b.cols() - o);
            for (Index k = 0; k < depth; ++k)
                std::copy_n(b.row(k0 + k).data() + o, width, panel.data() + k * kPanel);
            kernels().multiply({.x = a.data() + k0,
                                .x_stride = a.outerStride(),
                                .rows = a.rows(),
                                .w = panel.data(),
                                .w_stride = kPanel,
                                .depth = depth,
                                .width = width,
                                .y = &c(0, o),
                                .y_stride = c.outerStride(),
                                .begin = !added && k0 == 0,
                                .bias = nullptr});
        }
}

/// Where the rows of one number's gradient in a tile are.
struct InTile {
    int number;
    Index tile, among, count;  // the first: in the tile, among those of all numbers in it; how many
    Index queries;             // … in the gradients by q and z
    Index keys, first, seen;   // those keys of the tile that it has: in the gradients by k and v, in the tile
};

/// One head of some numbers' gradients on its way back.
struct HeadBackward {
    const AttentionRule& rule;
    const int head;
    const Rows q, k, v;                  // [n, d_head], [keys, d_head]
    const GradientRows &queries, &keys;  // of all numbers, of which it is those from `first` on
    const int first, last;
    MatrixRef dz;  // [rows of queries, d_head]
    MatrixRef dq, dk, dv;

    /// Converts the gradient by z as used to the one by the head's own z, where the user ablated the head.
    void to_own_z() {
        const HeadRule::Z kind = rule.change(head) ? rule.change(head)->z : HeadRule::Z::kept;
        for (int i = first; i < last && kind != HeadRule::Z::kept; ++i) {
            auto own = dz.middleRows(queries.part(i).at, queries.part(i).tokens.size());
            if (own.rows() == 0) continue;
            if (kind == HeadRule::Z::zero) own.setZero();
            if (kind == HeadRule::Z::mean) own.rowwise() = own.colwise().mean().eval();
        }
    }

    std::vector<InTile> in_tile(const PatternTile& tile) const {
        std::vector<InTile> out;
        const int end = tile.first + narrow<int>(tile.weights.rows()),
                  last_key = tile.first_key + narrow<int>(tile.weights.cols());
        Index among = 0;
        for (int i = first; i < last; ++i) {
            const auto &own = queries.part(i), &seen = keys.part(i);
            const int from = std::max(own.tokens.begin, tile.first), to = std::min(own.tokens.end, end);
            if (from >= to) continue;
            const int key = std::max(seen.tokens.begin, tile.first_key),
                      key_end = std::max(key, std::min(seen.tokens.end, last_key));
            out.push_back({i, from - tile.first, among, to - from, own.at + from - own.tokens.begin,
                           seen.at + key - seen.tokens.begin, key - tile.first_key, key_end - key});
            among += to - from;
        }
        return out;
    }

    /// dS = P ∘ (dP − rowsum(P ∘ dP)) / temperature: [rows, keys], by the scores before mask and temperature.
    Matrix by_scores(const PatternTile& tile, const std::vector<InTile>& all,
                     const Matrix& by_weights) const {
        const float temperature = rule.temperature_of(head);
        Matrix out = Matrix::Zero(by_weights.rows(), by_weights.cols());
        if (temperature == 0 || std::isinf(temperature)) return out;
        for (const InTile& one : all)
            for (Index r = 0; r < one.count; ++r) {
                const int query = tile.first + narrow<int>(one.tile + r);
                if (rule.is_given(head, query) || rule.mask_of(head).fully_masked(query)) continue;
                const auto weights = tile.weights.row(one.tile + r);
                const auto by = by_weights.row(one.among + r);
                out.row(one.among + r) = (weights.array() * (by.array() - weights.dot(by))) / temperature;
            }
        return out;
    }

    /// Computes d score / d (scale · q·k), [queries, keys]: the slope of the soft cap, and 0 where the user
    /// set the score. Empty: 1 everywhere.
    Matrix slopes(const PatternTile& tile) const {
        const Index rows = tile.weights.rows(), width = tile.weights.cols();
        const HeadRule* change = rule.change(head);
        if (rule.cap <= 0 && (!change || change->scores.empty())) return {};
        Matrix out = Matrix::Ones(rows, width);
        if (rule.cap > 0) {
            Matrix raw(rows, width);
            multiply_keys(q.middleRows(tile.first, rows) * rule.scale, k, tile.first_key, raw);
            out.array() -= (raw.array() / rule.cap).tanh().square();
        }
        if (change)
            for (const auto& [query, key, value] : change->scores)
                if (query >= tile.first && query < tile.first + rows && key >= tile.first_key &&
                    key < tile.first_key + width)
                    out(query - tile.first, key - tile.first_key) = 0;
        return out;
    }

    void see(const PatternTile& tile, const SeeGradient& seen) {
        const std::vector<InTile> all = in_tile(tile);
        if (all.empty()) return;
        const Index rows = all.back().among + all.back().count, width = tile.weights.cols();
        Matrix z(rows, dz.cols()), by_weights(rows, width);
        for (const InTile& one : all)
            z.middleRows(one.among, one.count) = dz.middleRows(one.queries, one.count);
        multiply_keys(z, v, tile.first_key, by_weights);
        Matrix d = by_scores(tile, all, by_weights);
        for (const InTile& one : all) {
            if (!seen) break;
            const PatternTile own{rule, head, tile.first + narrow<int>(one.tile), tile.first_key,
                                  tile.weights.middleRows(one.tile, one.count)};
            seen({own, by_weights.middleRows(one.among, one.count), d.middleRows(one.among, one.count),
                  one.number});
        }
        pass_on(tile, all, z, d);
    }

    /// Adds to the gradients by q, k and v, given those by z and by the scores.
    void pass_on(const PatternTile& tile, const std::vector<InTile>& all, const Matrix& z, Matrix& d) {
        if (const Matrix slope = slopes(tile); slope.size())
            for (const InTile& one : all)
                d.middleRows(one.among, one.count).array() *= slope.middleRows(one.tile, one.count).array();
        d *= rule.scale;
        const Matrix tile_k = k.middleRows(tile.first_key, d.cols()),
                     tile_q = q.middleRows(tile.first, tile.weights.rows());
        const Matrix weights_turned = tile.weights.transpose(), turned = d.transpose();
        Matrix by_q(d.rows(), tile_k.cols());
        multiply(d, tile_k, by_q, false);
        for (const InTile& one : all) {
            dq.middleRows(one.queries, one.count) = by_q.middleRows(one.among, one.count);
            if (one.seen == 0) continue;
            multiply(weights_turned.block(one.first, one.tile, one.seen, one.count),
                     z.middleRows(one.among, one.count), dv.middleRows(one.keys, one.seen), true);
            multiply(turned.block(one.first, one.among, one.seen, one.count),
                     tile_q.middleRows(one.tile, one.count), dk.middleRows(one.keys, one.seen), true);
        }
    }
};

/// Reuses a large allocation; see spare_matrix.
Matrix spare_zeros(Index rows, Index cols) {
    Matrix out = spare_matrix(rows, cols);
    out.setZero();
    return out;
}

/// Sums over the query heads that share a key/value head: [keys, kv_heads · width].
Matrix sum_shared(const AttentionRule& rule, Matrix all) {
    if (rule.heads == rule.kv_heads) return all;
    const Index width = all.cols() / rule.heads;
    Matrix out = spare_zeros(all.rows(), width * rule.kv_heads);
    for (int h = 0; h < rule.heads; ++h)
        out.middleCols(rule.kv_head(h) * width, width) += all.middleCols(h * width, width);
    leave_spare(std::move(all));
    return out;
}

/// Bounds how many outputs share one computation of a tile: their rows take a few megabytes.
int outputs_together(Index keys) {
    constexpr Index kEntries = 1 << 20, kMax = 16;
    return narrow<int>(std::clamp<Index>(kEntries / (kTileQueries * std::max<Index>(keys, 1)), 1, kMax));
}

}  // namespace

void attention_vjp(ThreadPool& pool, const AttentionActivations& a, const GradientRows& queries,
                   const GradientRows& keys, AttentionGradients& out, const SeeGradient& see) {
    const AttentionRule& rule = *a.rule;
    const Index width = a.q.cols() / rule.heads;
    HEADLIGHT_CHECK(out.z.rows() == queries.rows() && out.z.cols() == a.q.cols() &&
                    queries.tokens() == a.q.rows() && keys.tokens() == a.k.rows() &&
                    queries.outputs() == keys.outputs());
    out.q = spare_zeros(out.z.rows(), out.z.cols());
    Matrix dk = spare_zeros(keys.rows(), a.q.cols()), dv = spare_zeros(keys.rows(), a.q.cols()),
           dz = spare_matrix(out.z.rows(), out.z.cols());
    dz = out.z;
    // same tiles for all outputs: results do not depend on the number of threads
    const KeyRange asked = queries.hull();
    const int together = outputs_together(a.k.rows()), shares = (queries.outputs() + together - 1) / together;
    pool.run(shares * rule.heads, [&](int i) {
        const int head = i % rule.heads, first = i / rule.heads * together;
        const Index own = head * width, shared = rule.kv_head(head) * width;
        const Rows q = a.q.columns(own, width), k = a.k.columns(shared, width);
        HeadBackward back{rule,
                          head,
                          q,
                          k,
                          a.v.columns(shared, width),
                          queries,
                          keys,
                          first,
                          std::min(queries.outputs(), first + together),
                          dz.middleCols(own, width),
                          out.q.middleCols(own, width),
                          dk.middleCols(own, width),
                          dv.middleCols(own, width)};
        back.to_own_z();
        show_pattern(pool, rule, head, q, k, asked.begin, asked.end,
                     [&](const PatternTile& tile) { back.see(tile, see); });
    });
    leave_spare(std::move(dz));
    out.k = sum_shared(rule, std::move(dk));
    out.v = sum_shared(rule, std::move(dv));
}

}  // namespace headlight
