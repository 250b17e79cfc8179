// Convolves channels along the text, and propagates gradients back.
#include "model/mixers/channel_convolution.h"

#include <algorithm>

#include "base/spare.h"

namespace headlight {

namespace {

constexpr Index kConvolvedRows = 16;  // that one thread convolves at a time

}  // namespace

Matrix convolved(const RecurrenceSpec& spec, const RecurrenceWeights& w, const Matrix& x, Index first,
                 ThreadPool& pool) {
    const Index channels = x.cols(), kernel = spec.kernel;
    const Matrix taps = ConstMatrixMap(w.kernel, channels, kernel).transpose();
    Matrix out = spare_matrix(x.rows() - first, channels);
    for_row_blocks(pool, out.rows(), kConvolvedRows, [&](Index begin, Index count) {
        for (Index t = first + begin; t < first + begin + count; ++t) {
            auto row = out.row(t - first);
            for (Index c = 0; c < channels; ++c) row[c] = w.kernel_bias ? w.kernel_bias[c] : 0;
            for (Index s = std::max<Index>(0, kernel - 1 - t); s < kernel; ++s)
                row += taps.row(s).cwiseProduct(x.row(t + s - kernel + 1));
        }
    });
    return out;
}

GradientRows reaching_back(const GradientRows& keys, int reach) {
    std::vector<KeyRange> tokens;
    for (int output = 0; output < keys.outputs(); ++output) {
        const KeyRange own = keys.part(output).tokens;
        tokens.push_back(own.size() ? KeyRange{std::max(0, own.begin - reach), own.end} : KeyRange{});
    }
    return keys.with(tokens);
}

Matrix convolution_vjp(const RecurrenceSpec& spec, const RecurrenceWeights& w, const Matrix& by,
                       const GradientRows& keys, const GradientRows& wide) {
    Matrix out = Matrix::Zero(wide.rows(), by.cols());
    for (int output = 0; output < keys.outputs(); ++output) {
        const GradientRows::Part &from = keys.part(output), &to = wide.part(output);
        for (int t = from.tokens.begin; t < from.tokens.end; ++t)
            for (Index s = 0; s < spec.kernel; ++s) {
                const Index token = t + s - spec.kernel + 1;
                if (token < 0) continue;
                auto row = out.row(to.at + token - to.tokens.begin);
                const auto own = by.row(from.at + t - from.tokens.begin);
                for (Index c = 0; c < by.cols(); ++c) row[c] += w.kernel[c * spec.kernel + s] * own[c];
            }
    }
    return out;
}

}  // namespace headlight
