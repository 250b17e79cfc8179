// Projects to heads through latents, and propagates gradients back.
#include "model/mixers/latent.h"

#include <cmath>

#include "base/check.h"
#include "base/spare.h"
#include "model/backward/vector_jacobian.h"
#include "model/forward.h"
#include "model/head_weights.h"
#include "model/pass.h"

namespace headlight {

namespace {

/// Locates the parts of rows of all heads: own components of k and values side by side, as kv_up puts them
/// out; own and shared components side by side, as k has them.
struct LatentWidths {
    const Index heads, own, shared, value;
    explicit LatentWidths(const AttentionSpec& a)
        : heads(a.heads), own(a.latent->d_own(a.d_head)), shared(a.latent->d_shared), value(a.value_width()) {
        HEADLIGHT_CHECK(own > 0 && shared > 0 && a.kv_heads == a.heads);
    }
    Index key() const { return own + shared; }
    Index up() const { return own + value; }
};

}  // namespace

QueryKeyValue latent_heads(const ModelConfig& c, const AttentionSpec& spec, const AttentionWeights& w,
                           ConstMatrixRef x, ThreadPool& pool) {
    const LatentWidths d(spec);
    const LatentWeights& latent = w.latent;
    QueryKeyValue out;
    out.q = latent.q_down
                ? project(pool, apply_norm(c, latent.q_norm, project(pool, x, latent.q_down), pool), w.q)
                : project(pool, x, w.q);
    Matrix down = project(pool, x, latent.kv_down);
    Matrix up =
        project(pool, apply_norm(c, latent.kv_norm, down.leftCols(latent.kv_up.in), pool), latent.kv_up);
    out.k = spare_matrix(x.rows(), d.heads * d.key());
    out.v = spare_matrix(x.rows(), d.heads * d.value);
    for_row_blocks(pool, x.rows(), 16, [&](Index first, Index count) {
        for (Index i = first; i < first + count; ++i)
            for (Index h = 0; h < d.heads; ++h) {
                out.k.row(i).segment(h * d.key(), d.own) = up.row(i).segment(h * d.up(), d.own);
                out.k.row(i).segment(h * d.key() + d.own, d.shared) = down.row(i).tail(d.shared);
                out.v.row(i).segment(h * d.value, d.value) = up.row(i).segment(h * d.up() + d.own, d.value);
            }
    });
    leave_spare(std::move(down));
    leave_spare(std::move(up));
    return out;
}

Matrix latent_queries_vjp(const ModelConfig& c, const AttentionWeights& w, ConstMatrixRef x,
                          ConstMatrixRef by_q, std::span<const int> tokens, ThreadPool& pool) {
    Matrix by_read = linear_vjp(pool, by_q, w.q);
    const LatentWeights& latent = w.latent;
    if (!latent.q_down) return by_read;
    by_read = norm_vjp(c, latent.q_norm, project(pool, x, latent.q_down), by_read, tokens, pool);
    return linear_vjp(pool, by_read, latent.q_down);
}

Matrix latent_keys_vjp(const ModelConfig& c, const AttentionSpec& spec, const AttentionWeights& w,
                       ConstMatrixRef x, ConstMatrixRef by_k, ConstMatrixRef by_v,
                       std::span<const int> tokens, ThreadPool& pool) {
    const LatentWidths d(spec);
    const LatentWeights& latent = w.latent;
    Matrix by_up(by_k.rows(), d.heads * d.up());
    Matrix by_shared = Matrix::Zero(by_k.rows(), d.shared);
    for (Index h = 0; h < d.heads; ++h) {
        by_up.middleCols(h * d.up(), d.own) = by_k.middleCols(h * d.key(), d.own);
        by_up.middleCols(h * d.up() + d.own, d.value) = by_v.middleCols(h * d.value, d.value);
        by_shared += by_k.middleCols(h * d.key() + d.own, d.shared);
    }
    const Matrix down = project(pool, x, latent.kv_down);
    const Index rank = latent.kv_up.in;
    Matrix by_down(by_k.rows(), rank + d.shared);
    by_down.leftCols(rank) =
        norm_vjp(c, latent.kv_norm, down.leftCols(rank), linear_vjp(pool, by_up, latent.kv_up), tokens, pool);
    by_down.rightCols(d.shared) = by_shared;
    return linear_vjp(pool, by_down, latent.kv_down);
}

LatentPath latent_path(const AttentionSpec& spec, const AttentionWeights& w, Index head, HeadPart part) {
    const LatentWidths d(spec);
    const LatentWeights& latent = w.latent;
    LatentPath path;
    if (part == HeadPart::q) {
        path.down = latent.q_down;
        path.norm = latent.q_norm;
        (latent.q_down ? path.up : path.direct) = w.q.columns(head * d.key(), d.key());
        return path;
    }
    path.down = latent.kv_down.columns(0, latent.kv_up.in);
    path.norm = latent.kv_norm;
    const bool keys = part == HeadPart::k;
    path.up = latent.kv_up.columns(head * d.up() + (keys ? 0 : d.own), keys ? d.own : d.value);
    if (keys) path.direct = latent.kv_down.columns(latent.kv_up.in, d.shared);
    return path;
}

namespace {

Linear with_bias(Linear w, bool biased) {
    if (!biased) w.bias = nullptr;
    return w;
}

}  // namespace

Matrix project_path(const ModelConfig& c, const LatentPath& path, ConstMatrixRef x, ThreadPool& pool,
                    bool biased) {
    Matrix out(x.rows(), path.width());
    if (path.down) {
        const Matrix latent = project(pool, x, with_bias(path.down, biased));
        out.leftCols(path.up.out) = project(pool, apply_norm(c, path.norm, latent, pool), path.up);
    }
    if (path.direct) out.rightCols(path.direct.out) = project(pool, x, with_bias(path.direct, biased));
    return out;
}

float latent_size(const ModelConfig& c, const LatentPath& path, ConstMatrixRef x, ThreadPool& pool) {
    if (!path.down) return 1;
    return std::sqrt(project(pool, x, path.down).array().square().mean() + eps_of(c, path.norm));
}

HeadProjection absorbed(const LatentPath& path, float size) {
    const Index d_model = path.down ? path.down.in : path.direct.in;
    HeadProjection out{Matrix(d_model, path.width()), {}};
    if (path.down.bias || path.direct.bias) out.bias = Vector::Zero(path.width());
    if (path.down) {
        const Eigen::RowVectorXf scale =
            Eigen::Map<const Eigen::RowVectorXf>(path.norm.weight, path.down.out) / size;
        const Matrix up = input_rows(path.up, 0, path.up.in);
        const Matrix down = input_rows(path.down, 0, d_model).array().rowwise() * scale.array();
        out.weight.leftCols(path.up.out).noalias() = down * up;
        if (path.down.bias) {
            const Eigen::Map<const Eigen::RowVectorXf> bias(path.down.bias, path.down.out);
            out.bias.head(path.up.out) = (bias.cwiseProduct(scale) * up).transpose();
        }
    }
    if (path.direct) {
        out.weight.rightCols(path.direct.out) = input_rows(path.direct, 0, d_model);
        if (path.direct.bias)
            out.bias.tail(path.direct.out) = Eigen::Map<const Vector>(path.direct.bias, path.direct.out);
    }
    return out;
}

}  // namespace headlight
