// Maps the residual stream to logits.
#include "analysis/circuits/direct.h"

#include <cmath>

namespace headlight {

void check_stream(const Trace& trace) {
    if (!trace.model->engine) trace.weights(0);
}

bool has_direct_path(const Model& m) {
    const ModelConfig& c = m.config;
    return !m.weights.stacks.empty() && !c.norms_sums() && !c.has_streams() && !c.mlm_head &&
           !c.can.read_image && m.has_logits() && m.weights.stacks.back().final_norm;
}

float carried_share(const Model& m, int block) {
    const AttentionBlock at = m.config.block(block);
    const std::vector<LayerWeights>& layers = m.weights.stacks[at.stack].layers;
    float out = 1;
    for (int l = at.layer; l < isize(layers); ++l) out *= layers[l].scale();
    return out;
}

std::optional<DirectPath> DirectPath::at(const Trace& trace, int position, int block) {
    if (!has_direct_path(*trace.model)) return std::nullopt;
    return DirectPath(trace, position, block < 0 ? 1 : carried_share(*trace.model, block));
}

DirectPath::DirectPath(const Trace& trace, int position, float share) : trace_(trace), share_(share) {
    const ModelConfig& c = trace.config();
    const auto x = trace.activations.stacks.back()->resid_final.row(position);
    const float mean = c.norm == NormKind::layer_norm ? x.mean() : 0.0f;
    deviation_ = std::sqrt((x.array() - mean).square().mean() + c.norm_eps);
}

Matrix DirectPath::normalized(ConstMatrixRef vectors) const {
    const ModelConfig& c = trace_.config();
    const Eigen::Map<const Eigen::RowVectorXf> weight(trace_.model->weights.stacks.back().final_norm.weight,
                                                      vectors.cols());
    Matrix x = vectors;
    if (c.norm == NormKind::layer_norm) x.colwise() -= x.rowwise().mean().eval();
    return (x.array().rowwise() * (weight.array() * (c.logit_scale * share_ / deviation_))).matrix();
}

Matrix DirectPath::as_logits(ConstMatrixRef normal, const Linear& head, ThreadPool& pool) const {
    const Linear& dense = trace_.model->weights.head_dense;
    Matrix out(normal.rows(), head.out);
    if (!dense) {
        apply_linear(pool, normal, head, out);
        return out;
    }
    Matrix narrow(normal.rows(), dense.out);
    apply_linear(pool, normal, dense, narrow);
    apply_linear(pool, narrow, head, out);
    return out;
}

Matrix DirectPath::logits(ConstMatrixRef vectors, ThreadPool& pool) const {
    Linear head = trace_.model->weights.unembedding;
    head.bias = nullptr;
    return as_logits(normalized(vectors), head, pool);
}

Vector DirectPath::logit(ConstMatrixRef vectors, int token) const {
    ThreadPool alone(1);
    Linear head = trace_.model->weights.unembedding.columns(token, 1);
    head.bias = nullptr;
    return as_logits(normalized(vectors), head, alone).col(0);
}

float DirectPath::norm_bias(int token) const {
    const Norm& norm = trace_.model->weights.stacks.back().final_norm;
    if (!norm.bias) return 0;
    ThreadPool alone(1);
    Linear head = trace_.model->weights.unembedding.columns(token, 1);
    head.bias = nullptr;
    const Matrix bias = Eigen::Map<const Eigen::RowVectorXf>(norm.bias, trace_.config().d_model) *
                        trace_.config().logit_scale;
    return as_logits(bias, head, alone)(0, 0);
}

float DirectPath::unembedding_bias(int token) const {
    const Linear& head = trace_.model->weights.unembedding;
    return head.bias ? head.bias[token] : 0.0f;
}

}  // namespace headlight
