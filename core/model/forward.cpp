// The transformer (Vaswani et al. 2017; pre-norm decoder as in Radford et al. 2019), top to bottom like its equations.
#include "model/forward.h"

#include <algorithm>
#include <cmath>

#include "model/attention.h"

namespace headlight {

namespace {

/// Calls rows(first, count) for blocks of rows, on all threads.
void for_row_blocks(ThreadPool& pool, Index n, Index block, const std::function<void(Index, Index)>& rows) {
    pool.run(static_cast<int>((n + block - 1) / block), [&](int i) { rows(i * block, std::min(block, n - i * block)); });
}

/// [n − first, d_model]: token plus position embeddings of the positions from `first` on.
Matrix embed(const Model& model, const std::vector<int>& ids, Index first) {
    const ModelConfig& c = model.config;
    Matrix x(static_cast<Index>(ids.size()) - first, c.d_model);
    for (Index i = 0; i < x.rows(); ++i) {
        const Eigen::Map<const Eigen::RowVectorXf> token(model.weights.token_embedding + Index{ids[static_cast<size_t>(first + i)]} * c.d_model, c.d_model);
        const Eigen::Map<const Eigen::RowVectorXf> position(model.weights.position_embedding + (first + i) * c.d_model, c.d_model);
        x.row(i) = token + position;
    }
    return x;
}

/// The nonlinearity, in place. GELU: Hendrycks and Gimpel 2016, exact and in its tanh form.
void apply_activation(Activation activation, Eigen::Ref<Eigen::ArrayXf> x) {
    switch (activation) {
        case Activation::gelu_tanh: {
            const float root = std::sqrt(2.0f / static_cast<float>(EIGEN_PI));
            // tanh(u) = 1 − 2 / (exp(2u) + 1), so 0.5 (1 + tanh u) = 1 − 1 / (exp(2u) + 1)
            x = x - x / ((2.0f * root * (x + 0.044715f * x.cube())).exp() + 1.0f);
            return;
        }
        case Activation::gelu:
            x = x.unaryExpr([](float v) { return 0.5f * v * (1.0f + std::erf(v * static_cast<float>(M_SQRT1_2))); });
            return;
        case Activation::relu:
            x = x.max(0.0f);
            return;
    }
}

Matrix project(ThreadPool& pool, ConstMatrixRef x, const Linear& w) {
    Matrix y(x.rows(), w.out);
    apply_linear(pool, x, w, y);
    return y;
}

/// `fresh` under the rows kept from an earlier pass.
Matrix below(const Matrix* past, Index kept, Matrix fresh) {
    if (!kept) return fresh;
    Matrix all(kept + fresh.rows(), fresh.cols());
    all.topRows(kept) = past->topRows(kept);
    all.bottomRows(fresh.rows()) = fresh;
    return all;
}

/// mlp_out[n, d_model] = W_out · act(W_in · norm(resid_mid))
Matrix feed_forward(const Model& model, const LayerWeights& w, const Matrix& resid_mid, ThreadPool& pool) {
    constexpr Index kApart = 16;  // rows a multiple of 4 KB apart would share one set of the first-level cache
    Matrix padded(resid_mid.rows(), w.mlp_in.out + kApart);
    auto hidden = padded.leftCols(w.mlp_in.out);
    apply_linear(pool, apply_norm(model.config, w.mlp_norm, resid_mid, pool), w.mlp_in, hidden);
    for_row_blocks(pool, hidden.rows(), 4, [&](Index first, Index count) {
        for (Index i = first; i < first + count; ++i) apply_activation(model.config.activation, hidden.row(i).transpose().array());
    });
    return project(pool, hidden, w.mlp_out);
}

}  // namespace

Matrix apply_norm(const ModelConfig& config, const Norm& norm, ConstMatrixRef x, ThreadPool& pool) {
    Matrix y(x.rows(), x.cols());
    const Eigen::Map<const Eigen::RowVectorXf> gain(norm.gain, x.cols()), bias(norm.bias, x.cols());
    for_row_blocks(pool, x.rows(), 16, [&](Index first, Index count) {
        for (Index i = first; i < first + count; ++i) {
            const float mean = x.row(i).mean();
            const auto centred = (x.row(i).array() - mean).matrix();
            const float deviation = std::sqrt(centred.squaredNorm() / static_cast<float>(x.cols()) + config.norm_eps);
            y.row(i) = centred.cwiseProduct(gain) / deviation + bias;
        }
    });
    return y;
}

Result<Activations> forward(const Model& model, const std::vector<int>& ids, const Mask& mask, ThreadPool& pool, const CancelFlag* cancel, Reuse reuse) {
    const ModelConfig& c = model.config;
    const Index kept = reuse.rows;
    Activations a;
    a.mask = MaskPlan::make(mask, c.causal, static_cast<int>(ids.size()));
    a.layers.resize(static_cast<size_t>(c.layers));
    Matrix resid = embed(model, ids, kept);
    for (int l = 0; l < c.layers; ++l) {
        if (cancel && cancel->load(std::memory_order_relaxed)) return Error{"Cancelled."};
        const LayerWeights& w = model.weights.layers[static_cast<size_t>(l)];
        LayerActivations& layer = a.layers[static_cast<size_t>(l)];
        const LayerActivations* past = kept ? &reuse.past->layers[static_cast<size_t>(l)] : nullptr;
        const Matrix x = apply_norm(c, w.attn_norm, resid, pool);
        layer.q = below(past ? &past->q : nullptr, kept, project(pool, x, w.q));
        layer.k = below(past ? &past->k : nullptr, kept, project(pool, x, w.k));
        layer.v = below(past ? &past->v : nullptr, kept, project(pool, x, w.v));
        layer.z.resize(layer.q.rows(), layer.q.cols());
        if (past) layer.z.topRows(kept) = past->z.topRows(kept);
        attend(pool, a.mask, layer.q, layer.k, layer.v, c.heads, c.score_scale(l), static_cast<int>(kept), layer.z);
        layer.attn_out = below(past ? &past->attn_out : nullptr, kept, project(pool, layer.z.bottomRows(x.rows()), w.o));
        const Matrix resid_mid = resid + layer.attn_out.bottomRows(x.rows());
        layer.resid_pre = below(past ? &past->resid_pre : nullptr, kept, std::move(resid));
        resid = resid_mid + feed_forward(model, w, resid_mid, pool);
    }
    a.normalized = below(kept ? &reuse.past->normalized : nullptr, kept, apply_norm(c, model.weights.final_norm, resid, pool));
    a.resid_final = below(kept ? &reuse.past->resid_final : nullptr, kept, std::move(resid));
    return a;
}

Matrix unembed(const Model& model, ConstMatrixRef normalized, ThreadPool& pool) {
    Matrix logits(normalized.rows(), model.config.vocab);
    apply_linear(pool, normalized, model.weights.unembedding, logits);
    return logits;
}

}  // namespace headlight
