// Adds adapters to products and to weights that are read.
#include "model/low_rank.h"

#include "base/check.h"

namespace headlight {

Linear LowRank::reader() const { return Linear::of_floats(a, nullptr, in, rank, WeightLayout::out_in); }

bool LowRank::adds_to(const Linear& w) const {
    const std::byte* const first = w.layout == WeightLayout::out_in ? w.row(0) : w.weight;
    return w.in == in && w.out > 0 && first >= base && first < base + out * stride &&
           (first - base) % stride == 0;
}

int64_t LowRank::output(const Linear& w, int64_t i) const {
    const std::byte* const at = w.layout == WeightLayout::out_in ? w.row(i) : w.weight + w.dtype->size(i);
    const int64_t number = (at - base) / stride;
    HEADLIGHT_CHECK(at >= base && number < out && base + number * stride == at && w.in == in);
    return number;
}

Linear LowRank::writer(const Linear& w) const {
    const int64_t bytes = rank * int64_t{sizeof(float)};
    Linear out = Linear::of_floats(b + output(w, 0) * rank, nullptr, rank, w.out, WeightLayout::out_in);
    out.group = w.group;
    out.group_stride = w.group ? w.group_stride / w.stride * bytes : 0;
    HEADLIGHT_CHECK(output(w, w.out - 1) * rank + b == out.floats(w.out - 1));
    return out;
}

void add_adapter(const Linear& w, int64_t i, int64_t begin, std::span<float> values) {
    const LowRank& d = *w.adapter;
    const bool of_output = w.layout == WeightLayout::out_in;
    for (int64_t k = 0; k < std::ssize(values); ++k) {
        const int64_t own = of_output ? i : begin + k, input = of_output ? begin + k : i,
                      output = d.output(w, own);
        float sum = 0;
        for (int64_t r = 0; r < d.rank; ++r) sum += d.b[output * d.rank + r] * d.a[r * d.in + input];
        values[size_t(k)] = (values[size_t(k)] + d.strength * sum) * (d.factors ? d.factors[output] : 1);
    }
}

void apply_adapter(ThreadPool& pool, ConstMatrixRef x, const Linear& w, MatrixRef y) {
    const LowRank& d = *w.adapter;
    Matrix narrow(x.rows(), d.rank), added(x.rows(), w.out);
    apply_linear(pool, x, d.reader(), narrow);
    apply_linear(pool, narrow, d.writer(w), added);
    y += w.scale * d.strength * added;
    for (int64_t o = 0; d.factors && o < w.out; ++o) {
        const float factor = d.factors[d.output(w, o)], bias = w.bias ? w.scale * w.bias[o] : 0;
        y.col(o).array() = (y.col(o).array() - bias) * factor + bias;
    }
}

void apply_adapter_transposed(ThreadPool& pool, ConstMatrixRef y, const Linear& w, MatrixRef x) {
    const LowRank& d = *w.adapter;
    Matrix narrow(y.rows(), d.rank), added(y.rows(), w.in);
    apply_transposed(pool, y, d.writer(w), narrow);
    apply_transposed(pool, narrow, d.reader(), added);
    x += w.scale * d.strength * added;
}

}  // namespace headlight
