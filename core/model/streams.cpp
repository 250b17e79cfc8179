// Carries several streams through a stack.
#include "model/streams.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "model/backward/vector_jacobian.h"

namespace headlight {

namespace {

constexpr float kLeastSquare = 1e-5f;  // of a projection that is brought to the length of another row

const StreamsSpec& streams_of(const StackRun& run) {
    HEADLIGHT_CHECK(run.stack.streams);
    return *run.stack.streams;
}

/// Returns the columns of one stream.
auto stream_of(const StackRun& run, Matrix& all, Index i) {
    const Index d = run.config().d_model;
    return all.middleCols(i * d, d);
}
auto stream_of(const StackRun& run, const Matrix& all, Index i) {
    const Index d = run.config().d_model;
    return all.middleCols(i * d, d);
}

/// Returns the matrix of stream i, of those of all streams but the first.
Linear stream_matrix(const StackRun& run, const Linear& all, Index i) {
    const Index d = run.config().d_model;
    return all.columns((i - 1) * d, d);
}

float mean_square(const Eigen::RowVectorXf& x) { return x.squaredNorm() / float(x.size()); }

/// p · rms(as) / rms(p), row by row: brings rows to the length of others.
Matrix as_long_as(ConstMatrixRef as, Matrix p) {
    for (Index i = 0; i < p.rows(); ++i)
        p.row(i) *= std::sqrt(mean_square(as.row(i)) / std::max(mean_square(p.row(i)), kLeastSquare));
    return p;
}

/// Maps the gradient by p · rms(as) / rms(p), in place, to the one by p; adds the one by `as` to `by_as`.
void as_long_as_vjp(ConstMatrixRef as, ConstMatrixRef p, std::span<const int> tokens, Matrix& gradient,
                    MatrixRef by_as) {
    const auto d = float(p.cols());
    for (Index i = 0; i < gradient.rows(); ++i) {
        const Eigen::RowVectorXf of = p.row(tokens[size_t(i)]), target = as.row(tokens[size_t(i)]);
        const float square = mean_square(of), length = std::sqrt(std::max(square, kLeastSquare)),
                    wanted = std::sqrt(mean_square(target)), along = gradient.row(i).dot(of);
        if (wanted > 0) by_as.row(i) += along / (length * d * wanted) * target;
        if (square > kLeastSquare) gradient.row(i) -= along / (d * square) * of;
        gradient.row(i) *= wanted / length;
    }
}

/// Holds what a router makes of rows x: r = tanh(W norm(x) / d_model).
Matrix route_streams(const StackRun& run, int layer, ConstMatrixRef x) {
    const StreamsWeights& w = run.weights.layers[layer].streams;
    const Matrix scores = project(run.pool, run.norm(w.router_norm, x), w.router);
    return (scores.array() / float(run.config().d_model)).tanh().matrix();
}

/// Maps the gradient by r of some rows to the one by x[n, d_model].
Matrix route_streams_vjp(const StackRun& run, int layer, ConstMatrixRef x, Matrix gradient,
                         const GradientRows& rows) {
    const StreamsWeights& w = run.weights.layers[layer].streams;
    const Matrix routed = route_streams(run, layer, x);
    for (Index i = 0; i < gradient.rows(); ++i)
        gradient.row(i).array() *=
            (1 - routed.row(rows.token_of()[size_t(i)]).array().square()) / float(run.config().d_model);
    return norm_vjp(run.config(), w.router_norm, x, linear_vjp(run.pool, gradient, w.router), rows.token_of(),
                    run.pool);
}

/// Returns a row of streams as [K, d_model], and of predictions' coefficients as [K, K].
Eigen::Map<Matrix> square_of(Matrix& m, Index row, Index count) {
    return {m.row(row).data(), count, m.cols() / count};
}
Eigen::Map<const Matrix> square_of(const Matrix& m, Index row, Index count) {
    return {m.row(row).data(), count, m.cols() / count};
}

/// [rows, K · K]: the coefficients by which a layer predicts the streams.
Matrix prediction_coefficients(const StackRun& run, int layer, const Matrix& streams) {
    return project(run.pool, route_streams(run, layer, active_stream(run, streams)),
                   run.weights.layers[layer].streams.predict);
}

/// [rows, K]: 1 + those by which it corrects them.
Matrix correction_coefficients(const StackRun& run, int layer, const Matrix& left) {
    const Matrix out =
        project(run.pool, route_streams(run, layer, left), run.weights.layers[layer].streams.correct);
    return out.array() + 1;
}

}  // namespace

Rows active_stream(const ModelConfig& config, const StackConfig& stack, const Rows& streams) {
    return streams.columns(Index{stack.streams->active} * config.d_model, config.d_model);
}

Matrix enter_streams(const StackRun& run, const Matrix& embeddings) {
    const Index count = streams_of(run).count;
    Matrix out(embeddings.rows(), count * embeddings.cols());
    stream_of(run, out, 0) = embeddings;
    for (Index i = 1; i < count; ++i)
        stream_of(run, out, i) = as_long_as(
            embeddings, project(run.pool, embeddings, stream_matrix(run, run.weights.streams_enter, i)));
    return out;
}

Matrix leave_streams(const StackRun& run, const Matrix& streams) {
    const Index count = streams_of(run).count;
    Matrix sum = stream_of(run, streams, 0);
    for (Index i = 1; i < count; ++i)
        sum += as_long_as(
            stream_of(run, streams, 0),
            project(run.pool, stream_of(run, streams, i), stream_matrix(run, run.weights.streams_leave, i)));
    return sum / float(count);
}

Matrix predict_streams(const StackRun& run, int layer, const Matrix& streams) {
    const Index count = streams_of(run).count;
    const Matrix coefficients = prediction_coefficients(run, layer, streams);
    Matrix out = streams;
    for (Index i = 0; i < out.rows(); ++i)
        square_of(out, i, count) += square_of(coefficients, i, count) * square_of(streams, i, count);
    return out;
}

void correct_streams(const StackRun& run, int layer, const Matrix& left, Matrix& predicted) {
    const Index count = streams_of(run).count;
    const Matrix coefficients = correction_coefficients(run, layer, left);
    const Matrix innovation = left - active_stream(run, predicted);
    for (Index i = 0; i < left.rows(); ++i)
        square_of(predicted, i, count) += coefficients.row(i).transpose() * innovation.row(i);
}

Matrix read_by_embedding(const StackRun& run, int layer, const Matrix& streams) {
    Matrix out = active_stream(run, streams);
    if (const float* scale = run.weights.layers[layer].streams.scale; streams_of(run).scaled)
        out.array().rowwise() *= Eigen::Map<const Eigen::RowVectorXf>(scale, out.cols()).array();
    return out;
}

void add_beside(const StackRun& run, const Matrix& added, Matrix& streams) {
    for (Index i = 1; i < streams_of(run).count; ++i) stream_of(run, streams, i) += added;
}

Matrix enter_streams_vjp(const StackRun& run, const Matrix& embeddings, const Matrix& gradient,
                         const GradientRows& rows) {
    Matrix out = stream_of(run, gradient, 0);
    for (Index i = 1; i < streams_of(run).count; ++i) {
        const Linear w = stream_matrix(run, run.weights.streams_enter, i);
        Matrix by = stream_of(run, gradient, i);
        as_long_as_vjp(embeddings, project(run.pool, embeddings, w), rows.token_of(), by, out);
        out += linear_vjp(run.pool, by, w);
    }
    return out;
}

Matrix leave_streams_vjp(const StackRun& run, const Matrix& streams, const Matrix& gradient,
                         const GradientRows& rows) {
    const Index count = streams_of(run).count;
    Matrix out(gradient.rows(), streams.cols());
    const Matrix share = gradient / float(count);
    stream_of(run, out, 0) = share;
    for (Index i = 1; i < count; ++i) {
        const Linear w = stream_matrix(run, run.weights.streams_leave, i);
        Matrix by = share;
        as_long_as_vjp(stream_of(run, streams, 0), project(run.pool, stream_of(run, streams, i), w),
                       rows.token_of(), by, stream_of(run, out, 0));
        stream_of(run, out, i) = linear_vjp(run.pool, by, w);
    }
    return out;
}

Matrix predict_streams_vjp(const StackRun& run, int layer, const Matrix& streams, Matrix gradient,
                           const GradientRows& rows) {
    const Index count = streams_of(run).count;
    const Matrix coefficients = prediction_coefficients(run, layer, streams);
    Matrix by_coefficients(gradient.rows(), count * count);
    for (Index i = 0; i < gradient.rows(); ++i) {
        const int token = rows.token_of()[size_t(i)];
        auto by = square_of(gradient, i, count);
        square_of(by_coefficients, i, count) = by * square_of(streams, token, count).transpose();
        by += (square_of(coefficients, token, count).transpose() * by).eval();
    }
    const Matrix by_router = linear_vjp(run.pool, by_coefficients, run.weights.layers[layer].streams.predict);
    active_stream(run, gradient) +=
        route_streams_vjp(run, layer, active_stream(run, streams), by_router, rows);
    return gradient;
}

Matrix correct_streams_vjp(const StackRun& run, int layer, const Matrix& left, const Matrix& predicted,
                           Matrix& gradient, const GradientRows& rows) {
    const Index count = streams_of(run).count;
    const Matrix coefficients = correction_coefficients(run, layer, left);
    Matrix by_left(gradient.rows(), left.cols()), by_coefficients(gradient.rows(), count);
    for (Index i = 0; i < gradient.rows(); ++i) {
        const int token = rows.token_of()[size_t(i)];
        const Eigen::RowVectorXf innovation = left.row(token) - active_stream(run, predicted).row(token);
        const auto by = square_of(gradient, i, count);
        by_left.row(i) = coefficients.row(token) * by;
        by_coefficients.row(i) = innovation * by.transpose();
    }
    active_stream(run, gradient) -= by_left;
    const Matrix by_router = linear_vjp(run.pool, by_coefficients, run.weights.layers[layer].streams.correct);
    by_left += route_streams_vjp(run, layer, left, by_router, rows);
    return by_left;
}

void read_by_embedding_vjp(const StackRun& run, int layer, const Matrix& gradient, Matrix& by_streams) {
    auto by = active_stream(run, by_streams);
    if (const float* scale = run.weights.layers[layer].streams.scale; streams_of(run).scaled)
        by += (gradient.array().rowwise() *
               Eigen::Map<const Eigen::RowVectorXf>(scale, gradient.cols()).array())
                  .matrix();
    else
        by += gradient;
}

Matrix add_beside_vjp(const StackRun& run, const Matrix& gradient) {
    Matrix out = Matrix::Zero(gradient.rows(), run.config().d_model);
    for (Index i = 1; i < streams_of(run).count; ++i) out += stream_of(run, gradient, i);
    return out;
}

}  // namespace headlight
