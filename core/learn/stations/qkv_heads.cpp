// Computes heads from chosen matrices.
#include "learn/stations/qkv_heads.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "analysis/attention/score_steps.h"
#include "base/cast.h"
#include "base/draws.h"
#include "learn/normalizers.h"
#include "learn/score_function_table.h"
#include "learn/stations/small_vectors.h"

namespace headlight::learn {

namespace {

/// Returns M_q, M_k or M_v [3, 3] of small vectors (animal, adjective, grammar): an animal asks for an
/// adjective, grammar does not answer, and only the adjective is passed on.
Matrix own_matrix(int which) {
    Matrix m = Matrix::Zero(3, 3);
    if (which == 0) m << 0, 2, 0, 1, 0, 0, 0, 0, 1;
    if (which == 1) m << 1, 0, 0, 0, 1, 0, 0, 0, 0;
    if (which == 2) m(1, 1) = 1;
    return m;
}

}  // namespace

HeadInputs small_inputs(const StationInput& in, const QkvState& state) {
    HeadInputs out;
    out.words = small_query_key(in, state.vectors);
    out.x_q = out.x_k = out.words.q;
    const int heads = state.heads >= 3 ? 3 : 1;  // three numbers make one head or three
    for (int h = 0; h < heads; ++h) out.heads.push_back(h);
    out.width = out.value_width = 3 / heads;
    out.small = true;
    return out;
}

HeadInputs model_inputs(const StationInput& in, const QkvState& state, ThreadPool& pool) {
    const Trace& trace = *in.trace;
    const ModelConfig& config = trace.config();
    const AttentionBlock block = config.block(in.block);
    const Norm& norm = trace.weights(in.block).norm;
    HeadInputs out;
    out.words = head_query_key(in);
    const Matrix resid = trace.resid_before(in.block, pool).topRows(out.words.q.rows());
    const bool enters_normed = norm && !config.layer_of(in.block).norms_sum();
    out.x_q = enters_normed ? apply_norm(config, norm, resid, pool) : resid;
    out.x_k =
        out.words.one_text ? out.x_q : trace.stack(block.key_stack).normalized.topRows(out.words.k.rows());
    for (int i = 0; i < std::min(state.heads, config.heads(in.block)); ++i)
        out.heads.push_back((in.head + i) % config.heads(in.block));
    out.width = config.d_head(in.block);
    out.value_width = config.d_value(in.block);
    return out;
}

Matrix matrix_of(MatrixSource source, const HeadInputs& x, int head, int which, const QkvState& state) {
    const Index d = x.x_q.cols(), width = which == 2 ? x.value_width : x.width, first = Index(head) * width;
    if (source == MatrixSource::random) {
        Draws draws((state.seed * 3 + which) * 1000 + head);
        return normal_matrix(d, width, 1 / std::sqrt(double(d)), draws);
    }
    if (source == MatrixSource::identity || !x.small) return identity_columns(d, width, first);
    const std::array<const std::vector<float>*, 3> by_hand{&state.m_q, &state.m_k, &state.m_v};
    const Matrix own = own_matrix(which);
    const Matrix whole = source == MatrixSource::by_hand ? edited(*by_hand[which], own) : own;
    return whole.middleCols(first, width);
}

HeadVectors head_vectors(const StationInput& in, const HeadInputs& x, int head, const MatrixSources& s,
                         const QkvState& state) {
    const auto made = [&](MatrixSource source, const Matrix& from, int which, const auto& of_head) -> Matrix {
        if (source == MatrixSource::head && !x.small) return of_head().topRows(from.rows());
        return from * matrix_of(source, x, head, which, state);
    };
    return {made(s.query, x.x_q, 0, [&] { return in.trace->q(in.block, head); }),
            made(s.key, x.x_k, 1, [&] { return in.trace->k(in.block, head); }),
            made(s.value, x.x_k, 2, [&] { return in.trace->v(in.block, head); })};
}

HeadOutcome outcome_of(const StationInput& in, const HeadInputs& x, int head, const MatrixSources& s,
                       const QkvState& state) {
    const HeadVectors h = head_vectors(in, x, head, s, state);
    HeadOutcome out = head_outcome(h.q, h.k, h.v, x.words.allowed);
    if (x.small || s.query != MatrixSource::head || s.key != MatrixSource::head) return out;
    const auto queries = narrow<int>(h.q.rows());
    for (int i = 0; i < queries; ++i) {
        const auto steps = score_steps(*in.trace, {in.block, head}, i, 0, narrow<int>(h.k.rows()));
        for (int j = 0; j < isize(steps); ++j)
            if (x.words.allowed[i][j]) out.scores(i, j) = steps[j].score;
    }
    out.weights = in.trace->pattern_rows(in.block, head, 0, queries).leftCols(h.k.rows());
    out.z = out.weights * h.v;
    return out;
}

std::string source_name(MatrixSource source, const HeadInputs& x) {
    static constexpr std::array kNames{"the head", "random", "identity", "by hand"};
    if (x.small && source == MatrixSource::head) return "chosen for the article's words";
    const bool identity = source == MatrixSource::identity || (!x.small && source == MatrixSource::by_hand);
    if (identity && x.width < x.x_q.cols()) return "identity, cut to " + kept_numbers(x);
    return kNames[static_cast<int>(source)];
}

std::string kept_numbers(const HeadInputs& x) {
    return std::to_string(x.width) + " of " + std::to_string(x.x_q.cols()) + " numbers";
}

Matrix project_heads(const StationInput& in, const HeadInputs& x, const std::vector<int>& heads,
                     const std::vector<HeadOutcome>& outcomes, ThreadPool& pool) {
    const Index all = x.small ? 3 : Index(in.trace->config().heads(in.block)) * x.value_width;
    Matrix z = Matrix::Zero(x.x_q.rows(), all);
    for (int i = 0; i < isize(outcomes); ++i)
        z.middleCols(Index(heads[i]) * x.value_width, x.value_width) = outcomes[i].z;
    if (x.small) return z;
    AttentionWeights weights = in.trace->weights(in.block);
    weights.o.bias = nullptr;
    return project_out(weights, z, pool);
}

Matrix identity_columns(Index d, Index columns, Index first) {
    Matrix out = Matrix::Zero(d, columns);
    for (Index c = 0; c < columns; ++c) out((first + c) % d, c) = 1;
    return out;
}

HeadOutcome head_outcome(ConstMatrixRef q, ConstMatrixRef k, ConstMatrixRef v,
                         const std::vector<std::vector<bool>>& allowed) {
    HeadOutcome out;
    out.scores = scaled_dot_scores(q, k);
    for (int i = 0; i < out.scores.rows(); ++i)
        for (int j = 0; j < out.scores.cols(); ++j)
            if (!allowed[i][j]) out.scores(i, j) = std::numeric_limits<float>::quiet_NaN();
    out.weights = normalize_rows(normalizers()[static_cast<int>(RowNormalizer::softmax)], out.scores);
    out.z = out.weights * v;
    return out;
}

float moved_weight(const Matrix& a, const Matrix& b) {
    return (a - b).cwiseAbs().sum() / 2 / float(a.rows());
}

}  // namespace headlight::learn
