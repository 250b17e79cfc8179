// Decodes the matrices of one head.
#include "analysis/circuits/head_matrices.h"

#include "base/cast.h"
#include "base/check.h"
#include "base/spectrum.h"

namespace headlight {

namespace {

Linear of_head(const Linear& w, Index head, Index width) { return w.columns(head * width, width); }

Index kv_head(const ModelConfig& c, AttentionHead head) {
    return head.head / (c.heads(head.block) / c.kv_heads(head.block));
}

}  // namespace

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

const AttentionWeights& weights_of(const Model& model, int block) {
    HEADLIGHT_CHECK(!model.weights.stacks.empty());
    const AttentionBlock at = model.config.block(block);
    const LayerWeights& layer = model.weights.stacks[at.stack].layers[at.layer];
    return at.kind == AttentionKind::cross ? layer.cross : layer.self;
}

HeadMatrices head_matrices(const Model& model, AttentionHead head) {
    const ModelConfig& c = model.config;
    HEADLIGHT_CHECK(c.has_head(head));
    const AttentionWeights& w = weights_of(model, head.block);
    const Index d = c.d_head(head.block), kv = kv_head(c, head);
    ValueFactors value = value_factors(model, head);
    return {input_rows(of_head(w.q, head.head, d), 0, w.q.in), input_rows(of_head(w.k, kv, d), 0, w.k.in),
            std::move(value.down), std::move(value.up)};
}

ValueFactors value_factors(const Model& model, AttentionHead head) {
    const ModelConfig& c = model.config;
    HEADLIGHT_CHECK(c.has_head(head));
    const AttentionWeights& w = weights_of(model, head.block);
    const Index d = c.d_head(head.block);
    return {input_rows(of_head(w.v, kv_head(c, head), d), 0, w.v.in), input_rows(w.o, head.head * d, d)};
}

Vector singular_values(const ValueFactors& f) { return product_singular_values(f.down, f.up); }

Vector singular_values(const Matrix& m) {
    if (m.rows() < m.cols()) return product_singular_values(Matrix::Identity(m.rows(), m.rows()), m);
    return product_singular_values(m, Matrix::Identity(m.cols(), m.cols()));
}

}  // namespace headlight
