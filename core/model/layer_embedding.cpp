// Computes the embeddings of each layer, and what layers add by them.
#include "model/layer_embedding.h"

#include <cmath>

#include "base/check.h"
#include "model/activation.h"
#include "model/backward/vector_jacobian.h"

namespace headlight {

namespace {

const LayerEmbeddingSpec& embedding_spec(const StackRun& run, int layer) {
    HEADLIGHT_CHECK(run.stack.layers[layer].embedding);
    return *run.stack.layers[layer].embedding;
}

/// Returns the factor of W E that stands before its norm.
float projection_scale(const ModelConfig& c) { return 1 / std::sqrt(float(c.d_model)); }

void each_row(Matrix& m, void (*of)(Eigen::Ref<Eigen::ArrayXf>)) {
    for (Index i = 0; i < m.rows(); ++i) of(m.row(i).transpose().array());
}

}  // namespace

Matrix layer_embeddings(const Pass& p, ConstMatrixRef embeddings) {
    const Linear& table = p.weights.layer_table;
    const Index width = embedding_spec(p, 0).width;
    const Matrix all = project(p.pool, embeddings, p.weights.layer_project) * projection_scale(p.config());
    const Eigen::Map<const Matrix> by_layer(all.data(), all.size() / width, width);
    const Matrix normal = p.norm(p.weights.layer_project_norm, by_layer);
    Matrix out(all.rows(), all.cols());
    for (Index i = 0; i < out.rows(); ++i) {
        const int id = p.input.ids[size_t(p.n_past + i)];
        table.read(id < table.out ? id : 0, 0, out.cols(), out.row(i).data());
    }
    const Eigen::Map<const Matrix> projected(normal.data(), all.rows(), all.cols());
    return (projected + out * std::sqrt(float(width))) * float(M_SQRT1_2);
}

Rows layer_embedding(const StackRun& run, int layer, const StackActivations& activations) {
    const Index width = embedding_spec(run, layer).width;
    return activations.layer_embeddings.columns(layer * width, width);
}

Matrix layer_embedding_output(const StackRun& run, int layer, ConstMatrixRef x, ConstMatrixRef p) {
    const LayerEmbeddingWeights& w = run.weights.layers[layer].embedding;
    Matrix hidden = project(run.pool, x, w.gate);
    each_row(hidden, activation_row(embedding_spec(run, layer).activation).apply);
    hidden.array() *= p.array();
    return run.norm(w.norm, project(run.pool, hidden, w.out));
}

LayerEmbeddingGradients layer_embedding_vjp(const StackRun& run, int layer,
                                            const StackActivations& activations, const Matrix& x,
                                            const Matrix& gradient, const GradientRows& rows) {
    const LayerEmbeddingWeights& w = run.weights.layers[layer].embedding;
    const ActivationRow& activation = activation_row(embedding_spec(run, layer).activation);
    const Matrix p = layer_embedding(run, layer, activations).all();
    Matrix slope = project(run.pool, x, w.gate), active = slope;
    each_row(active, activation.apply);
    each_row(slope, activation.slope);
    const Matrix out = project(run.pool, active.cwiseProduct(p), w.out);
    const Matrix by_hidden =
        linear_vjp(run.pool, norm_vjp(run.config(), w.norm, out, gradient, rows.token_of(), run.pool), w.out);
    Matrix by_gate = by_hidden, by_p = by_hidden * float(M_SQRT1_2);
    for (Index i = 0; i < by_gate.rows(); ++i) {
        const int token = rows.token_of()[size_t(i)];
        by_gate.row(i).array() *= p.row(token).array() * slope.row(token).array();
        by_p.row(i).array() *= active.row(token).array();
    }
    const Linear project_to = run.weights.layer_project.columns(layer * p.cols(), p.cols());
    const float scale = projection_scale(run.config());
    const Matrix projected = project(run.pool, activations.embeddings().all(), project_to) * scale;
    const Matrix by_projected =
        norm_vjp(run.config(), run.weights.layer_project_norm, projected, by_p, rows.token_of(), run.pool);
    return {linear_vjp(run.pool, by_gate, w.gate), linear_vjp(run.pool, by_projected, project_to) * scale};
}

}  // namespace headlight
