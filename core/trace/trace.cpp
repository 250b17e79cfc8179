#include "trace/trace.h"

#include <algorithm>

#include "model/attention.h"

namespace headlight {

namespace {
ConstMatrixRef head_columns(const Matrix& all, const ModelConfig& c, int head) { return all.middleCols(Index{head} * c.d_head, c.d_head); }
}  // namespace

ConstMatrixRef Trace::q(int layer, int head) const { return head_columns(activations.layers[static_cast<size_t>(layer)].q, config(), head); }
ConstMatrixRef Trace::k(int layer, int head) const { return head_columns(activations.layers[static_cast<size_t>(layer)].k, config(), head); }
ConstMatrixRef Trace::v(int layer, int head) const { return head_columns(activations.layers[static_cast<size_t>(layer)].v, config(), head); }
ConstMatrixRef Trace::z(int layer, int head) const { return head_columns(activations.layers[static_cast<size_t>(layer)].z, config(), head); }

Matrix Trace::pattern_rows(int layer, int head, int first, int rows) const {
    Matrix pattern(rows, size());
    head_pattern(activations.mask, q(layer, head), k(layer, head), config().score_scale(layer), first, pattern);
    return pattern;
}

Matrix Trace::pattern(int layer, int head) const { return pattern_rows(layer, head, 0, size()); }

Matrix Trace::scores(int layer, int head) const {
    Matrix scores(size(), size());
    attention_scores(q(layer, head), k(layer, head), config().score_scale(layer), scores);
    return scores;
}

const Matrix& Trace::resid_post(int layer) const {
    const auto next = static_cast<size_t>(layer) + 1;
    return next < activations.layers.size() ? activations.layers[next].resid_pre : activations.resid_final;
}

Vector Trace::result(int layer, int head, int query) const {
    const Linear& o = model->weights.layers[static_cast<size_t>(layer)].o;
    const Index d = config().d_head, first = Index{head} * d;
    const Vector zi = z(layer, head).row(query).transpose();
    using Strided = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;
    if (o.layout == WeightLayout::in_out) return Strided(o.weight + first * o.stride, d, o.out, Eigen::OuterStride<>(o.stride)).transpose() * zi;
    return Strided(o.weight + first, o.out, d, Eigen::OuterStride<>(o.stride)) * zi;
}

namespace {
/// Tokens at the start that both share, where a causal mask keeps later ones from changing them.
int unchanged_rows(const Trace* past, const Model& model, const ForwardRequest& request) {
    if (!past || past->model.get() != &model || !model.config.causal || past->request.mask != request.mask || request.mask.name() == "none") return 0;
    const auto& before = past->request.ids;
    const auto differs = std::mismatch(before.begin(), before.end(), request.ids.begin(), request.ids.end());
    return static_cast<int>(differs.first - before.begin());
}
}  // namespace

Result<std::shared_ptr<const Trace>> run_trace(std::shared_ptr<const Model> model, ForwardRequest request, ThreadPool& pool, const CancelFlag* cancel, const Trace* past) {
    const int kept = unchanged_rows(past, *model, request);
    TRY(Activations activations, forward(*model, request.ids, request.mask, pool, cancel, kept ? Reuse{&past->activations, kept} : Reuse{}));
    return std::make_shared<const Trace>(Trace{std::move(model), std::move(request), std::move(activations)});
}

}  // namespace headlight
