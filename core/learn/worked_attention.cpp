// Computes a worked example of attention.
#include "learn/worked_attention.h"

#include <cmath>

#include "base/check.h"

namespace headlight {

WorkedAttention work_out(const WorkedInput& in) {
    HEADLIGHT_CHECK(in.query >= 0 && in.query < in.words.rows() && in.words.cols() == in.m_q.rows() &&
                    in.words.cols() == in.m_k.rows() && in.words.cols() == in.m_v.rows() &&
                    in.m_q.cols() == in.m_k.cols());
    constexpr float kFarScore = 20;
    WorkedAttention out;
    out.q = in.m_q.transpose() * in.words.row(in.query).transpose();
    out.k = in.words * in.m_k;
    out.v = in.words * in.m_v;
    out.dots = out.k * out.q;
    out.scores = in.divide ? Vector(out.dots / std::sqrt(float(in.m_q.cols()))) : out.dots;
    if (out.scores.cwiseAbs().maxCoeff() > kFarScore) out.shift = out.scores.maxCoeff();
    out.powers = (out.scores.array() - out.shift).exp();
    out.sum = out.powers.sum();
    out.weights = out.powers / out.sum;
    out.output = out.v.transpose() * out.weights;
    return out;
}

Matrix softmax_slopes(const Vector& weights) {
    return Matrix(weights.asDiagonal()) - weights * weights.transpose();
}

}  // namespace headlight
