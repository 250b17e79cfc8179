// Finds one head's part of its block's weights.
#include "model/head_weights.h"

#include "base/check.h"
#include "model/forward.h"
#include "model/pass.h"
#include "model/qk_norm.h"

namespace headlight {

namespace {

Linear without_bias(Linear w) {
    w.bias = nullptr;
    return w;
}

}  // namespace

const AttentionWeights& weights_of(const Model& model, int block) {
    HEADLIGHT_CHECK(!model.weights.stacks.empty());
    const AttentionBlock at = model.config.block(block);
    const LayerWeights& layer = model.weights.stacks[at.stack].layers[at.layer];
    return at.is_second() ? layer.second : layer.self;
}

Matrix input_rows(const Linear& w, Index first, Index count) {
    Matrix out(count, w.out);
    if (w.layout == WeightLayout::in_out) {
        for (Index i = 0; i < count; ++i) w.read(first + i, 0, w.out, out.row(i).data());
        return out;
    }
    Vector stored(w.in);
    for (Index o = 0; o < w.out; ++o) {
        w.read(o, 0, w.in, stored.data());
        out.col(o) = stored.segment(first, count);
    }
    return out;
}

HeadWeights::HeadWeights(const Model& model, AttentionHead head)
    : config_(model.config),
      spec_(model.config.attention(head.block)),
      weights_(weights_of(model, head.block)),
      head_(head.head),
      kv_head_(head.head / (spec_.heads / spec_.kv_heads)) {
    HEADLIGHT_CHECK(model.config.has_head(head));
}

const Linear& HeadWeights::all(HeadPart which) const {
    return which == HeadPart::q ? weights_.q : which == HeadPart::k ? weights_.k : weights_.v;
}

const Norm& HeadWeights::all_norms(HeadPart which) const {
    return which == HeadPart::q ? weights_.q_norm : which == HeadPart::k ? weights_.k_norm : weights_.v_norm;
}

Index HeadWeights::number(HeadPart which) const {
    if (spec_.recurrence && which != HeadPart::v) return head_ / (spec_.heads / spec_.recurrence->key_heads);
    return which == HeadPart::q ? head_ : kv_head_;
}

Linear HeadWeights::part(HeadPart which) const {
    if (spec_.recurrence && spec_.recurrence->is_convolution()) return all(which);  // taps share them
    if (spec_.recurrence && spec_.recurrence->is_selective() && which != HeadPart::v)
        return all(which);  // there is none: q and k are made of what all values become
    return all(which).columns(number(which) * width(which), width(which));
}

Matrix HeadWeights::matrix(HeadPart which) const {
    if (spec_.latent) return absorbed(path(which)).weight;
    const Linear w = part(which);
    return input_rows(w, 0, w.in);
}

HeadProjection HeadWeights::at_row(HeadPart which, ConstMatrixRef x, ThreadPool& pool) const {
    if (spec_.latent) return absorbed(path(which), latent_size(config_, path(which), x, pool));
    const Linear w = part(which);
    HeadProjection out{input_rows(w, 0, w.in), {}};
    if (w.bias) out.bias = w.scale * Eigen::Map<const Vector>(w.bias, w.out);
    return out;
}

Matrix HeadWeights::project_parts(HeadPart which, ConstMatrixRef parts, ThreadPool& pool) const {
    if (spec_.latent) {
        const HeadProjection at = at_row(which, parts.colwise().sum(), pool);
        Matrix y = parts * at.weight;
        if (at.bias.size()) y.row(0) += at.bias.transpose();
        return y;
    }
    const Linear w = part(which);
    Matrix y = headlight::project(pool, parts, without_bias(w));
    if (w.bias) y.row(0) += w.scale * Eigen::Map<const Eigen::RowVectorXf>(w.bias, y.cols());
    return y;
}

Matrix HeadWeights::project_alone(HeadPart which, ConstMatrixRef x, ThreadPool& pool,
                                  bool without_biases) const {
    if (spec_.latent) return project_path(config_, path(which), x, pool, !without_biases);
    return headlight::project(pool, x, without_biases ? without_bias(part(which)) : part(which));
}

Norm HeadWeights::norm(HeadPart which) const {
    return which == HeadPart::v ? weights_.v_norm : norm_of_head(spec_, all_norms(which), number(which));
}

Matrix HeadWeights::output() const {
    const Index width = spec_.value_width();
    return input_rows(weights_.o, head_ * width, width);
}

Matrix HeadWeights::project(HeadPart which, ConstMatrixRef x, ThreadPool& pool, bool without_biases) const {
    const bool biased = !without_biases;
    Norm all_heads = all_norms(which), own = norm(which);
    if (!biased) all_heads.bias = own.bias = nullptr;
    const Index d = width(which);
    if (own && which != HeadPart::v && spec_.qk_norm == QkNorm::whole) {
        const Matrix y = headlight::project(pool, x, biased ? all(which) : without_bias(all(which)));
        return norm_heads(config_, spec_, all_heads, y, pool).middleCols(number(which) * d, d);
    }
    Matrix y = project_alone(which, x, pool, without_biases);
    return own ? apply_norm(config_, own, y, pool) : y;
}

Vector HeadWeights::normed_over(HeadPart which, ConstMatrixRef x, ThreadPool& pool) const {
    const bool whole = which != HeadPart::v && spec_.qk_norm == QkNorm::whole;
    return (whole ? headlight::project(pool, x, all(which)) : project_alone(which, x, pool))
        .row(0)
        .transpose();
}

}  // namespace headlight
