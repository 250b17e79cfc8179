// Convolves channels along the text, and propagates gradients back.
#include "model/mixers/channel_convolution.h"

#include <algorithm>

namespace headlight {

Matrix convolved(const RecurrenceSpec& spec, const RecurrenceWeights& w, const Matrix& x, Index first) {
    const Index channels = x.cols(), kernel = spec.kernel;
    Matrix out(x.rows() - first, channels);
    for (Index t = first; t < x.rows(); ++t) {
        auto row = out.row(t - first);
        for (Index c = 0; c < channels; ++c) row[c] = w.kernel_bias ? w.kernel_bias[c] : 0;
        for (Index s = 0; s < kernel; ++s) {
            const Index from = t + s - kernel + 1;
            if (from < 0) continue;
            for (Index c = 0; c < channels; ++c) row[c] += w.kernel[c * kernel + s] * x(from, c);
        }
    }
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
