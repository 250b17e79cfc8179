// Computes convolutions along the text.
#include "model/convolution.h"

#include <algorithm>
#include <vector>

#include "base/cast.h"
#include "base/check.h"
#include "model/activation.h"
#include "model/backward/vector_jacobian.h"

namespace headlight {

namespace {

const ConvolutionSpec& spec_of(const StackRun& run, int layer) {
    HEADLIGHT_CHECK(run.stack.layers[layer].convolution);
    return *run.stack.layers[layer].convolution;
}

/// [n, d_model]: conv(x), as the product of W with the rows around each token, one beside the other.
Matrix convolved(const StackRun& run, int layer, ConstMatrixRef x) {
    const Index kernel = spec_of(run, layer).kernel, n = x.rows(), d = x.cols();
    Matrix around = Matrix::Zero(n, kernel * d);
    for (Index t = 0; t < n; ++t)
        for (Index j = 0; j < kernel; ++j)
            if (const Index from = t + j - kernel / 2; from >= 0 && from < n)
                around.row(t).segment(j * d, d) = x.row(from);
    return project(run.pool, around, run.weights.layers[layer].convolution);
}

}  // namespace

Matrix convolution_output(const StackRun& run, int layer, ConstMatrixRef x) {
    Matrix out = convolved(run, layer, x);
    const auto apply = activation_row(spec_of(run, layer).activation).apply;
    for (Index t = 0; t < out.rows(); ++t) apply(out.row(t).transpose().array());
    return out;
}

Matrix add_convolution(const StackRun& run, int layer, ConstMatrixRef x, ConstMatrixRef y) {
    return run.norm(run.weights.layers[layer].convolution_norm, convolution_output(run, layer, x) + y);
}

ConvolutionGradients convolution_vjp(const StackRun& run, int layer, const Matrix& x, const Matrix& y,
                                     const Matrix& gradient, const GradientRows& rows) {
    const LayerWeights& w = run.weights.layers[layer];
    const ConvolutionSpec& spec = spec_of(run, layer);
    const ActivationRow& activation = activation_row(spec.activation);
    Matrix slope = convolved(run, layer, x), sum = slope;
    for (Index t = 0; t < x.rows(); ++t) {
        activation.apply(sum.row(t).transpose().array());
        activation.slope(slope.row(t).transpose().array());
    }
    sum += y;
    ConvolutionGradients out;
    out.y = norm_vjp(run.config(), w.convolution_norm, sum, gradient, rows.token_of(), run.pool);
    Matrix by_conv = out.y;
    for (Index i = 0; i < by_conv.rows(); ++i)
        by_conv.row(i).array() *= slope.row(rows.token_of()[size_t(i)]).array();
    const Matrix by_around = linear_vjp(run.pool, by_conv, w.convolution);
    const int n = narrow<int>(x.rows()), half = spec.kernel / 2;
    std::vector<KeyRange> reached;
    for (int output = 0; output < rows.outputs(); ++output) {
        const KeyRange& own = rows.part(output).tokens;
        reached.push_back(own.size() ? KeyRange{std::max(0, own.begin - half), std::min(n, own.end + half)}
                                     : own);
    }
    out.x_rows = rows.with(reached);
    out.x = Matrix::Zero(out.x_rows.rows(), x.cols());
    for (int output = 0; output < rows.outputs(); ++output) {
        const GradientRows::Part &from = rows.part(output), &to = out.x_rows.part(output);
        for (int t = from.tokens.begin; t < from.tokens.end; ++t)
            for (int j = 0; j < spec.kernel; ++j)
                if (const int token = t + j - half; token >= 0 && token < n)
                    out.x.row(to.at + token - to.tokens.begin) +=
                        by_around.row(from.at + t - from.tokens.begin).segment(j * x.cols(), x.cols());
    }
    return out;
}

}  // namespace headlight
