// Attention backward: softmax's Jacobian is diag(p) − p pᵀ, so with dP = dz vᵀ the scores get
// P ∘ (dP − rowsum(P ∘ dP)), v gets Pᵀ dz, q and k what the scores' factors say.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "kernels/choice.h"
#include "model/vector_jacobian.h"

namespace headlight {

namespace {

/// c[rows, width] += a[rows, depth] · b[depth, width], by panels of b; on the calling thread.
void add_product(ConstMatrixRef a, ConstMatrixRef b, MatrixRef c) {
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
                                .begin = false,
                                .bias = nullptr});
        }
}

/// One head on its way back: its rows, and the gradients that it adds to.
struct HeadBackward {
    const AttentionRule& rule;
    int head;
    const Matrix q, k, v_turned;  // [n, d_head], [keys, d_head], [d_head, keys]
    ConstMatrixRef dz;            // [n, d_head]
    MatrixRef dq, dk, dv;

    /// [queries, keys] by the scores before the mask and a temperature.
    Matrix by_scores(const PatternTile& tile, const Matrix& by_weights) const {
        const float temperature = rule.change(head) ? rule.change(head)->temperature : 1;
        Matrix out = Matrix::Zero(by_weights.rows(), by_weights.cols());
        if (temperature == 0 || std::isinf(temperature)) return out;
        for (Index r = 0; r < out.rows(); ++r) {
            const int query = tile.first + narrow<int>(r);
            if (rule.is_given(head, query) || rule.mask_of(head).fully_masked(query)) continue;
            const float mean = tile.weights.row(r).dot(by_weights.row(r));
            out.row(r) = (tile.weights.row(r).array() * (by_weights.row(r).array() - mean)) / temperature;
        }
        return out;
    }

    /// … by q · k times the scale: through the scores that a person put there, and through the soft cap.
    void through_cap(const PatternTile& tile, Matrix& d) const {
        const Index keys = d.cols();
        if (const HeadRule* change = rule.change(head))
            for (const auto& [query, key, value] : change->scores)
                if (query >= tile.first && query < tile.first + d.rows() && key >= tile.first_key &&
                    key < tile.first_key + keys)
                    d(query - tile.first, key - tile.first_key) = 0;
        if (rule.cap <= 0) return;
        Matrix raw = Matrix::Zero(d.rows(), keys);
        add_product(q.middleRows(tile.first, d.rows()) * rule.scale,
                    k.middleRows(tile.first_key, keys).transpose(), raw);
        d.array() *= 1 - (raw.array() / rule.cap).tanh().square();
    }

    void see(const PatternTile& tile, const SeeGradient& seen) {
        const Index rows = tile.weights.rows(), keys = tile.weights.cols();
        const auto z = dz.middleRows(tile.first, rows);
        Matrix by_weights = Matrix::Zero(rows, keys);
        add_product(z, v_turned.middleCols(tile.first_key, keys), by_weights);
        Matrix d = by_scores(tile, by_weights);
        if (seen) seen({tile, by_weights, d});
        add_product(tile.weights.transpose(), z, dv.middleRows(tile.first_key, keys));
        through_cap(tile, d);
        d *= rule.scale;
        add_product(d, k.middleRows(tile.first_key, keys), dq.middleRows(tile.first, rows));
        add_product(d.transpose(), q.middleRows(tile.first, rows), dk.middleRows(tile.first_key, keys));
    }
};

/// [n, d_head] by the z that a head's pattern gives, where a person put something else in its place.
Matrix by_own_z(const AttentionRule& rule, int head, Matrix dz) {
    const HeadRule::Z kind = rule.change(head) ? rule.change(head)->z : HeadRule::Z::kept;
    if (kind == HeadRule::Z::zero) dz.setZero();
    if (kind == HeadRule::Z::mean) dz.rowwise() = dz.colwise().mean().eval();
    return dz;
}

/// [keys, kv_heads · width]: summed over the query heads that share one.
Matrix sum_shared(const AttentionRule& rule, Matrix all) {
    if (rule.heads == rule.kv_heads) return all;
    const Index width = all.cols() / rule.heads;
    Matrix out = Matrix::Zero(all.rows(), width * rule.kv_heads);
    for (int h = 0; h < rule.heads; ++h)
        out.middleCols(rule.kv_head(h) * width, width) += all.middleCols(h * width, width);
    return out;
}

}  // namespace

void through_attention(ThreadPool& pool, const AttentionActivations& a, AttentionGradients& out,
                       const SeeGradient& see) {
    const AttentionRule& rule = *a.rule;
    const Index width = a.q.cols() / rule.heads;
    const Index n = a.q.rows(), keys = a.k.rows(), gradients = out.z.rows() / n;
    HEADLIGHT_CHECK(out.z.rows() == gradients * n && out.z.cols() == a.q.cols() && (gradients == 1 || !see));
    out.q = Matrix::Zero(out.z.rows(), out.z.cols());
    Matrix dk = Matrix::Zero(gradients * keys, a.q.cols()), dv = dk;
    pool.run(narrow<int>(gradients * rule.heads), [&](int i) {
        const int head = i % rule.heads;
        const Index number = i / rule.heads, own = head * width, shared = rule.kv_head(head) * width;
        const Rows q = a.q.columns(own, width), k = a.k.columns(shared, width);
        const Matrix dz = by_own_z(rule, head, out.z.block(number * n, own, n, width));
        HeadBackward back{rule,
                          head,
                          q.all(),
                          k.all(),
                          a.v.columns(shared, width).all().transpose(),
                          dz,
                          out.q.block(number * n, own, n, width),
                          dk.block(number * keys, own, keys, width),
                          dv.block(number * keys, own, keys, width)};
        show_pattern(pool, rule, head, q, k, 0, narrow<int>(n),
                     [&](const PatternTile& tile) { back.see(tile, see); });
    });
    out.k = sum_shared(rule, std::move(dk));
    out.v = sum_shared(rule, std::move(dv));
}

}  // namespace headlight
