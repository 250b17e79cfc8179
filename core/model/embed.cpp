// Embeds the input of layer 0 (token, position and type embeddings; patches) and unembeds the last layer's.
#include <algorithm>
#include <atomic>

#include "base/cast.h"
#include "base/check.h"
#include "base/memory.h"
#include "base/spare.h"
#include "kernels/choice.h"
#include "model/activation.h"
#include "model/engine.h"
#include "model/loading/table_sums.h"
#include "model/pass.h"
#include "model/sinusoids.h"

namespace headlight {

void for_row_blocks(ThreadPool& pool, Index n, Index block, const std::function<void(Index, Index)>& rows) {
    pool.run(narrow<int>((n + block - 1) / block),
             [&](int i) { rows(i * block, std::min(block, n - i * block)); });
}

Matrix project(ThreadPool& pool, ConstMatrixRef x, const Linear& w) {
    Matrix y = spare_matrix(x.rows(), w.out);
    apply_linear(pool, x, w, y);
    return y;
}

namespace {

/// [n − n_past, width]: looks up rows of an embedding table.
Matrix look_up(const Linear& table, Index count, const std::function<int64_t(Index)>& row) {
    Matrix x(count, table.in);
    for (Index i = 0; i < count; ++i) {
        const int64_t at = row(i);
        HEADLIGHT_CHECK(at >= 0 && at < table.out);
        table.read(at, 0, table.in, x.row(i).data());
    }
    return x;
}

/// Returns the row of the position table for each token from `n_past` on.
std::vector<int64_t> position_rows(const Pass& p) {
    const ModelConfig& c = p.config();
    std::vector<int64_t> rows;
    if (p.input.picture) {
        const int registers = p.config().vision.registers;
        for (int i = 0; i < p.input.size(); ++i) rows.push_back(i <= registers ? 0 : i - registers);
        return rows;
    }
    int64_t next = c.position_offset;
    for (const int id : p.input.ids) rows.push_back(id == c.position_pad ? c.position_pad : next++);
    return rows;
}

/// [n − n_past, width]: computes the position vectors of the new tokens; empty if the scheme adds none.
Matrix position_vectors(const Pass& p, Index width) {
    const Linear& table = p.weights.position_embedding;
    const bool waves = p.config().positions == PositionScheme::sinusoidal && !table;
    const Index count = p.input.size() - p.n_past;
    if (p.positions().off || (!waves && !table) || !count) return {};
    const std::vector<int64_t> all = position_rows(p);
    std::vector<int64_t> rows;
    for (const int at : p.new_positions()) rows.push_back(all[at]);
    if (!waves) return look_up(table, count, [&](Index i) { return rows[i]; });
    const auto [low, high] = std::minmax_element(rows.begin(), rows.end());
    const int64_t first = *low;
    const Matrix some = position_waves(p.config(), width, first, *high - first + 1);
    for (int64_t& row : rows) row -= first;
    return some(rows, Eigen::all);
}

/// [n, d_model]: x = [class token; registers; patches · W + b] + positions, which registers have none of.
Matrix embed_picture(const Pass& p, const Matrix& patches) {
    const int registers = p.config().vision.registers;
    Matrix x(p.input.size(), p.config().d_model);
    x.row(0) = Eigen::Map<const Eigen::RowVectorXf>(p.model.weights.class_token, x.cols());
    if (registers)
        x.middleRows(1, registers) = ConstMatrixMap(p.model.weights.registers, registers, x.cols());
    apply_linear(p.pool, patches, p.model.weights.patch, x.bottomRows(patches.rows()));
    const Matrix positions = position_vectors(p, x.cols());
    if (!positions.size()) return x;
    x.row(0) += positions.row(0);
    x.bottomRows(patches.rows()) += positions.bottomRows(patches.rows());
    return x;
}

/// [n − n_past, d_model]: adds types and positions to the token embeddings, norms and projects them.
Matrix embed_tokens(const Pass& p, Matrix x) {
    const ModelConfig& c = p.config();
    const StackWeights& w = p.weights;
    const std::vector<float> scales = embedding_scales(c, p.input);
    for (Index i = 0; i < x.rows(); ++i) x.row(i) *= scales[p.n_past + i];
    const bool project_first = w.embed_project && c.d_model_positions;
    if (project_first) x = project(p.pool, x, w.embed_project);
    if (p.stack.norms_tokens) x = p.norm(w.embed_norm, x);
    if (const Matrix positions = position_vectors(p, x.cols()); positions.size()) x += positions;
    if (w.type_embedding)
        x += look_up(w.type_embedding, x.rows(),
                     [&](Index i) { return p.input.types.empty() ? 0 : p.input.types[p.n_past + i]; });
    const bool project_before = w.embed_project && c.norm_projected;
    if (project_before) x = project(p.pool, x, w.embed_project);
    if (w.embed_norm && !p.stack.norms_tokens) x = p.norm(w.embed_norm, x);
    if (w.embed_project && !project_first && !project_before) x = project(p.pool, x, w.embed_project);
    return x;
}

}  // namespace

Matrix embed(const Pass& p) {
    if (p.input.picture) return embed_picture(p, p.input.picture->patches);
    return embed_tokens(p, look_up(p.weights.token_embedding, p.input.size() - p.n_past,
                                   [&](Index i) { return p.input.ids[p.n_past + i]; }));
}

Matrix embed_mean(const Pass& p) {
    if (const auto& picture = p.input.picture)  // the mean color is 0 after normalization
        return embed_picture(p, Matrix::Zero(picture->patches.rows(), picture->patches.cols()));
    const Linear& table = p.weights.token_embedding;
    const Eigen::RowVectorXf row = (table_sums(table, p.pool).sum / double(table.out)).cast<float>();
    return embed_tokens(p, row.replicate(p.input.size() - p.n_past, 1));
}

Matrix project_out(const AttentionWeights& w, ConstMatrixRef z, ThreadPool& pool) {
    return project(pool, z, w.o);
}

Matrix block_output(const ModelConfig& c, const AttentionWeights& w, ConstMatrixRef z, ThreadPool& pool) {
    Matrix out = project_out(w, z, pool);
    return w.post_norm ? apply_norm(c, w.post_norm, out, pool) : out;
}

Matrix apply_norm(const ModelConfig& config, const Norm& norm, ConstMatrixRef x, ThreadPool& pool) {
    HEADLIGHT_CHECK(norm);
    Matrix y = spare_matrix(x.rows(), x.cols());
    const bool center = config.norm == NormKind::layer_norm;
    const float eps = eps_of(config, norm);
    for_row_blocks(pool, x.rows(), 16, [&](Index first, Index count) {
        for (Index i = first; i < first + count; ++i)
            kernels().norm(x.row(i).data(), x.cols(), norm.weight, norm.bias, eps, center, y.row(i).data());
    });
    return y;
}

Matrix unembed(const Model& model, ConstMatrixRef normalized, ThreadPool& pool) {
    const ModelConfig& c = model.config;
    const ModelWeights& w = model.weights;
    if (model.engine) {
        auto logits = model.engine->logits(normalized, pool.cancel_flag());
        if (!logits) throw Failure(logits.error());
        return *std::move(logits);
    }
    HEADLIGHT_CHECK(w.unembedding);
    Matrix x = normalized * c.logit_scale;
    if (w.head_dense) x = project(pool, x, w.head_dense);
    if (c.mlm_head)
        for (Index i = 0; i < x.rows(); ++i)
            activation_row(c.head_activation).apply(x.row(i).transpose().array());
    if (w.head_norm) x = apply_norm(c, w.head_norm, x, pool);
    Matrix logits(x.rows(), w.unembedding.out);
    prefer_large_pages(logits.data(), logits.size() * static_cast<int64_t>(sizeof(float)));
    apply_linear(pool, x, w.unembedding, logits);
    for (Index i = 0; c.logit_cap > 0 && i < logits.rows(); ++i)
        kernels().soft_cap(logits.row(i).data(), logits.cols(), c.logit_cap);
    std::atomic<bool> finite = true;
    for_row_blocks(pool, logits.rows(), 16, [&](Index first, Index count) {
        if (!all_finite(logits.middleRows(first, count))) finite = false;
    });
    if (!finite)
        throw Failure({model.name + ": the logits are not finite; the weights of its head hold NaN or "
                                    "infinity: use weights that are finite."});
    return logits;
}

}  // namespace headlight
