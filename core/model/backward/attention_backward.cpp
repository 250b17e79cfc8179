// Propagates gradients back through attention. For a row p of the pattern P the Jacobian of softmax is
// diag(p) − p pᵀ, so that dP = dz vᵀ, dS = P ∘ (dP − rowsum(P ∘ dP)), dv = Pᵀ dz, dq = dS k · scale, dk = dSᵀ
// q · scale. Disentangled scores add the vectors of distances to the k and q that dS multiplies.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/cast.h"
#include "base/check.h"
#include "base/spare.h"
#include "kernels/choice.h"
#include "model/attention_products.h"
#include "model/backward/vector_jacobian.h"
#include "model/mixers/mixing.h"

namespace headlight {

namespace {

/// C = A B, or C += A B if `added`, by panels of B on this thread; a: [rows, depth], b: [depth, width].
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

/// Locates the part of one output's gradient that lies in a tile of the pattern. The gradients by the tile's
/// scores of all outputs are packed one below the other.
struct OutputInTile {
    int output;
    Index packed_row;  // its first row among the packed ones
    Index tile_row;    // its first query in the tile
    Index query_row;   // the same query in the gradients by q and z
    Index rows;        // its queries
    Index tile_key;    // its first key in the tile
    Index key_row;     // the same key in the gradients by k and v
    Index keys;        // its keys in the tile
};

KeyRange overlap(const KeyRange& a, const KeyRange& b) {
    const int begin = std::max(a.begin, b.begin);
    return {begin, std::max(begin, std::min(a.end, b.end))};
}

/// Propagates the gradients of the outputs [first, last) through one head.
struct HeadBackward {
    const AttentionRule& rule;
    const int head;
    const Rows q, k, v;                  // [n, d_head], [keys, d_head], [keys, d_value]
    const GradientRows &queries, &keys;  // of all outputs
    const int first, last;
    MatrixRef dz;  // [rows of queries, d_value]
    MatrixRef dq, dk, dv;

    /// Converts the gradient by z as used to the one by the head's own z, where the user ablated the head.
    void undo_ablation() {
        const HeadRule::Z kind = rule.change(head) ? rule.change(head)->z : HeadRule::Z::kept;
        for (int i = first; i < last && kind != HeadRule::Z::kept; ++i) {
            auto own = dz.middleRows(queries.part(i).at, queries.part(i).tokens.size());
            if (own.rows() == 0) continue;
            if (kind == HeadRule::Z::zero) own.setZero();
            if (kind == HeadRule::Z::mean) own.rowwise() = own.colwise().mean().eval();
        }
    }

    std::vector<OutputInTile> outputs_in(const PatternTile& tile) const {
        const KeyRange tile_queries{tile.first, tile.first + narrow<int>(tile.weights.rows())};
        const KeyRange tile_keys{tile.first_key, tile.first_key + narrow<int>(tile.weights.cols())};
        std::vector<OutputInTile> found;
        Index packed_row = 0;
        for (int output = first; output < last; ++output) {
            const GradientRows::Part& own_queries = queries.part(output);
            const GradientRows::Part& own_keys = keys.part(output);
            const KeyRange in_queries = overlap(own_queries.tokens, tile_queries);
            const KeyRange in_keys = overlap(own_keys.tokens, tile_keys);
            if (in_queries.size() == 0) continue;
            found.push_back({.output = output,
                             .packed_row = packed_row,
                             .tile_row = in_queries.begin - tile_queries.begin,
                             .query_row = own_queries.at + in_queries.begin - own_queries.tokens.begin,
                             .rows = in_queries.size(),
                             .tile_key = in_keys.begin - tile_keys.begin,
                             .key_row = own_keys.at + in_keys.begin - own_keys.tokens.begin,
                             .keys = in_keys.size()});
            packed_row += in_queries.size();
        }
        return found;
    }

    /// dS = P ∘ (dP − rowsum(P ∘ dP)) / temperature: [rows, keys], by the scores before mask and temperature.
    Matrix by_scores(const PatternTile& tile, const std::vector<OutputInTile>& all,
                     const Matrix& by_weights) const {
        const float temperature = rule.is_softmax() ? rule.temperature_of(head) : 0;
        Matrix out = Matrix::Zero(by_weights.rows(), by_weights.cols());
        if (temperature == 0 || std::isinf(temperature)) return out;
        for (const OutputInTile& one : all)
            for (Index r = 0; r < one.rows; ++r) {
                const int query = tile.first + narrow<int>(one.tile_row + r);
                if (rule.is_given(head, query) || rule.mask_of(head).fully_masked(query)) continue;
                const auto weights = tile.weights.row(one.tile_row + r);
                const auto by = by_weights.row(one.packed_row + r);
                out.row(one.packed_row + r) =
                    (weights.array() * (by.array() - weights.dot(by))) / temperature;
            }
        return out;
    }

    /// d score / d (scale · q·k), [queries, keys]: the slope of the soft cap, 0 for edited scores. Empty: 1.
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

    void propagate(const PatternTile& tile, const SeeGradient& observer) {
        const std::vector<OutputInTile> all = outputs_in(tile);
        if (all.empty()) return;
        const Index rows = all.back().packed_row + all.back().rows, width = tile.weights.cols();
        Matrix z(rows, dz.cols()), by_weights(rows, width);
        for (const OutputInTile& one : all)
            z.middleRows(one.packed_row, one.rows) = dz.middleRows(one.query_row, one.rows);
        multiply_keys(z, v, tile.first_key, by_weights);
        Matrix d = by_scores(tile, all, by_weights);
        for (const OutputInTile& one : all) {
            if (!observer) break;
            const PatternTile own{rule, head, tile.first + narrow<int>(one.tile_row), tile.first_key,
                                  tile.weights.middleRows(one.tile_row, one.rows)};
            observer({own, by_weights.middleRows(one.packed_row, one.rows),
                      d.middleRows(one.packed_row, one.rows), one.output});
        }
        if (rule.is_softmax())
            add_gradients(tile, all, z, d);
        else
            add_mixing_gradients(tile, all, z, by_weights);
    }

    /// Adds to them through the mixing matrix, given the gradients by z and by its entries.
    void add_mixing_gradients(const PatternTile& tile, const std::vector<OutputInTile>& all, const Matrix& z,
                              Matrix& by_weights) {
        const Matrix transposed = tile.weights.transpose();
        for (const OutputInTile& one : all) {
            if (one.keys == 0) continue;
            const int query = tile.first + narrow<int>(one.tile_row),
                      key = tile.first_key + narrow<int>(one.tile_key);
            auto by = by_weights.block(one.packed_row, one.tile_key, one.rows, one.keys);
            for (int r = 0; r < by.rows(); ++r)  // masked and given entries do not depend on q and k
                for (int i = 0; i < by.cols(); ++i)
                    if (rule.is_given(head, query + r) || !rule.mask_of(head).allowed(query + r, key + i))
                        by(r, i) = 0;
            multiply(transposed.block(one.tile_key, one.tile_row, one.keys, one.rows),
                     z.middleRows(one.packed_row, one.rows), dv.middleRows(one.key_row, one.keys), true);
            mixing_vjp(rule, head, q, k, query, key, by, dq.middleRows(one.query_row, one.rows),
                       dk.middleRows(one.key_row, one.keys));
        }
    }

    /// Adds to the gradients by q, k and v, given those by z and by the scores.
    void add_gradients(const PatternTile& tile, const std::vector<OutputInTile>& all, const Matrix& z,
                       Matrix& d) {
        if (const Matrix slope = slopes(tile); slope.size())
            for (const OutputInTile& one : all)
                d.middleRows(one.packed_row, one.rows).array() *=
                    slope.middleRows(one.tile_row, one.rows).array();
        d *= rule.scale;
        const Matrix tile_k = k.middleRows(tile.first_key, d.cols()),
                     tile_q = q.middleRows(tile.first, tile.weights.rows());
        const Matrix weights_transposed = tile.weights.transpose(), d_transposed = d.transpose();
        Matrix by_q(d.rows(), tile_k.cols());
        multiply(d, tile_k, by_q, false);
        for (const OutputInTile& one : all) {
            auto own_dq = dq.middleRows(one.query_row, one.rows);
            own_dq = by_q.middleRows(one.packed_row, one.rows);
            const int query = tile.first + narrow<int>(one.tile_row);
            rule.disentangled.to_position_vjp(head, d.middleRows(one.packed_row, one.rows), query,
                                              tile.first_key, own_dq);
            if (one.keys == 0) continue;
            rule.disentangled.from_position_vjp(
                head, d.block(one.packed_row, one.tile_key, one.rows, one.keys), query,
                tile.first_key + narrow<int>(one.tile_key), dk.middleRows(one.key_row, one.keys));
            multiply(weights_transposed.block(one.tile_key, one.tile_row, one.keys, one.rows),
                     z.middleRows(one.packed_row, one.rows), dv.middleRows(one.key_row, one.keys), true);
            multiply(d_transposed.block(one.tile_key, one.packed_row, one.keys, one.rows),
                     tile_q.middleRows(one.tile_row, one.rows), dk.middleRows(one.key_row, one.keys), true);
        }
    }
};

/// Reuses a large allocation; see spare_matrix.
Matrix spare_zeros(Index rows, Index cols) {
    Matrix out = spare_matrix(rows, cols);
    out.setZero();
    return out;
}

/// Sums over the heads that share a vector, q or the first d_head columns of k; the others are each head's
/// own.
Matrix sum_of_all_heads(const AttentionRule& rule, Matrix all, Index d_head) {
    const Index width = all.cols() / rule.heads, own = width - d_head;
    Matrix out = spare_zeros(all.rows(), d_head + own * rule.heads);
    for (int h = 0; h < rule.heads; ++h) {
        out.leftCols(d_head) += all.middleCols(h * width, d_head);
        out.middleCols(d_head + h * own, own) = all.middleCols(h * width + d_head, own);
    }
    leave_spare(std::move(all));
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

void check_rows(const AttentionActivations& a, const GradientRows& queries, const GradientRows& keys,
                const Matrix& by_z, Index width) {
    HEADLIGHT_CHECK(by_z.rows() == queries.rows() && by_z.cols() == width && queries.tokens() == a.q.rows() &&
                    keys.tokens() == a.k.rows() && queries.outputs() == keys.outputs());
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
    const Index width = a.q.cols() / rule.query_heads(), d_key = rule.key_width(width),
                d_rated = rated_width(rule, width), d_value = a.v.cols() / rule.kv_heads;
    check_rows(a, queries, keys, out.z, d_value * rule.heads);
    out.q = spare_zeros(out.z.rows(), width * rule.heads);
    Matrix dk = spare_zeros(keys.rows(), d_rated * rule.heads), dv = spare_zeros(keys.rows(), out.z.cols()),
           dz = spare_matrix(out.z.rows(), out.z.cols());
    dz = out.z;
    const KeyRange hull = queries.hull();
    const int together = outputs_together(a.k.rows()),  // the same tiles whatever the number of threads
        shares = (queries.outputs() + together - 1) / together;
    pool.run(shares * rule.heads, [&](int i) {
        const int head = i % rule.heads, first = i / rule.heads * together;
        const Rows q = a.q.columns(rule.query_head(head) * width, width),
                   k = a.k.columns(rule.key_head(head) * d_key, d_key);
        HeadBackward back{rule,
                          head,
                          q,
                          k,
                          a.v.columns(rule.kv_head(head) * d_value, d_value),
                          queries,
                          keys,
                          first,
                          std::min(queries.outputs(), first + together),
                          dz.middleCols(head * d_value, d_value),
                          out.q.middleCols(head * width, width),
                          dk.middleCols(head * d_rated, d_rated),
                          dv.middleCols(head * d_value, d_value)};
        back.undo_ablation();
        show_pattern(pool, rule, head, q, k, hull.begin, hull.end,
                     [&](const PatternTile& tile) { back.propagate(tile, see); });
    });
    leave_spare(std::move(dz));
    out.v = sum_shared(rule, std::move(dv));
    out.k = rule.shares_vectors() ? sum_of_all_heads(rule, std::move(dk), width)
                                  : sum_shared(rule, std::move(dk));
    if (rule.shares_vectors()) out.q = sum_of_all_heads(rule, std::move(out.q), width);
}

}  // namespace headlight
