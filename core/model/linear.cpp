// A task is a panel of outputs. With few rows the weights are read once, in place; with many, panels are
// packed (linear_packed.cpp).
#include "model/linear.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/cast.h"
#include "base/check.h"
#include "model/linear_vectors.h"

namespace headlight {

namespace {

constexpr int64_t kDecodedRows = 16;  // rows decoded at a time where few rows of x meet them
constexpr int64_t kSmallBatch = 16;   // up to here packing costs more than it saves
constexpr int64_t kStreamDepth = 32;  // inputs whose weights stay in the first-level cache for all rows

/// R rows of x times `depth` stored rows of `width` weights, added to y; four inputs at a time halve the
/// traffic of y.
template <int R>
void stream(const float* x, int64_t ldx, const float* weights, int64_t stride, int64_t depth, int64_t width,
            float* y, int64_t ldy) {
    int64_t k = 0;
    for (; k + 4 <= depth; k += 4) {
        const float* row = weights + k * stride;
        for (int64_t c = 0; c < width; c += kLanes) {
            const Vec w0 = load(row + c), w1 = load(row + stride + c), w2 = load(row + 2 * stride + c),
                      w3 = load(row + 3 * stride + c);
            for (int i = 0; i < 4; ++i) __builtin_prefetch(row + (8 + i) * stride + c);
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r) {
                const float* in = x + r * ldx + k;
                store(y + r * ldy + c,
                      load(y + r * ldy + c) + in[0] * w0 + in[1] * w1 + in[2] * w2 + in[3] * w3);
            }
        }
    }
    for (; k < depth; ++k)
        for (int64_t c = 0; c < width; c += kLanes)
            for (int r = 0; r < R; ++r)
                store(y + r * ldy + c,
                      load(y + r * ldy + c) + x[r * ldx + k] * load(weights + k * stride + c));
}

template <size_t... R>
constexpr auto stream_table(std::index_sequence<R...>) {
    return std::array{&stream<R + 1>...};
}
constexpr int kStreamRows = 8;
constexpr auto kStreams = stream_table(std::make_index_sequence<kStreamRows>());

void streaming_task(ConstMatrixRef x, const Linear& w, MatrixRef y, int64_t begin, int64_t end) {
    const auto stride = w.stride / static_cast<int64_t>(sizeof(float));
    const int64_t width = (end - begin) / kLanes * kLanes;
    for (Index r = 0; r < x.rows(); ++r)
        for (int64_t o = begin; o < end; ++o) y(r, o) = w.bias ? w.bias[o] : 0.0f;
    for (int64_t k0 = 0; k0 < w.in; k0 += kStreamDepth) {
        const int64_t depth = std::min(kStreamDepth, w.in - k0);
        for (Index r = 0; r < x.rows(); r += kStreamRows) {
            const auto rows = std::min<Index>(kStreamRows, x.rows() - r);
            kStreams[rows - 1](x.data() + r * x.outerStride() + k0, x.outerStride(), w.floats(k0) + begin,
                               stride, depth, width, y.data() + r * y.outerStride() + begin, y.outerStride());
        }
        for (Index r = 0; r < x.rows(); ++r)
            for (int64_t o = begin + width; o < end; ++o)
                for (int64_t k = k0; k < k0 + depth; ++k) y(r, o) += x(r, k) * w.floats(k)[o];
    }
}

/// R rows of x against single stored rows: y = Σ_k x[k] · w[k], lanes summed at the end.
template <int R>
void dot_rows(ConstMatrixRef x, int64_t row, const Linear& w, MatrixRef y, int64_t begin, int64_t end) {
    const auto stride = w.stride / static_cast<int64_t>(sizeof(float));
    for (int64_t o = begin; o < end; ++o) {
        const float* weights = w.floats(o);
        Vec sum[R];
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) sum[r] = Vec{};
        int64_t k = 0;
        for (; k + kLanes <= w.in; k += kLanes) {
            const Vec v = load(weights + k);
            __builtin_prefetch(weights + k + 2 * stride);
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r) sum[r] += load(x.data() + (row + r) * x.outerStride() + k) * v;
        }
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
            float total = w.bias ? w.bias[o] : 0.0f;
            for (int i = 0; i < kLanes; ++i) total += sum[r][i];
            for (int64_t rest = k; rest < w.in; ++rest) total += x(row + r, rest) * weights[rest];
            y(row + r, o) = total;
        }
    }
}

void dot_task(ConstMatrixRef x, const Linear& w, MatrixRef y, int64_t begin, int64_t end) {
    int64_t row = 0;
    for (; row + 8 <= x.rows(); row += 8) dot_rows<8>(x, row, w, y, begin, end);
    for (; row + 4 <= x.rows(); row += 4) dot_rows<4>(x, row, w, y, begin, end);
    for (; row < x.rows(); ++row) dot_rows<1>(x, row, w, y, begin, end);
}

/// Decodes some rows at a time and treats them as float32.
void decoded_task(ConstMatrixRef x, const Linear& w, MatrixRef y, int64_t begin, int64_t end) {
    static thread_local std::vector<float> decoded;
    decoded.resize(kDecodedRows * w.in);
    for (int64_t o = begin; o < end; o += kDecodedRows) {
        const int64_t count = std::min(kDecodedRows, end - o);
        for (int64_t i = 0; i < count; ++i) w.read(o + i, 0, w.in, decoded.data() + i * w.in);
        dot_task(x,
                 Linear::of_floats(decoded.data(), w.bias ? w.bias + o : nullptr, w.in, count,
                                   WeightLayout::out_in),
                 y.middleCols(o, count), 0, count);
    }
}

}  // namespace

Linear Linear::of_floats(const float* weight, const float* bias, int64_t in, int64_t out,
                         WeightLayout layout) {
    const int64_t row = layout == WeightLayout::in_out ? out : in;
    return {reinterpret_cast<const std::byte*>(weight), bias,  in, out,
            row * static_cast<int64_t>(sizeof(float)),  layout};
}

Linear Linear::columns(int64_t first, int64_t count) const {
    HEADLIGHT_CHECK(!group && first >= 0 && count >= 0 && first <= out && count <= out - first);
    Linear part = *this;
    part.weight =
        layout == WeightLayout::in_out ? weight + first * static_cast<int64_t>(sizeof(float)) : row(first);
    part.bias = bias ? bias + first : nullptr;
    part.out = count;
    return part;
}

void Linear::read(int64_t i, int64_t begin, int64_t count, float* values) const {
    HEADLIGHT_DCHECK(i >= 0 && i < (layout == WeightLayout::out_in ? out : in) && begin >= 0 &&
                     begin + count <= (layout == WeightLayout::out_in ? in : out));
    dtype->decode(row(i) + dtype->size(begin), count, values);
}

void apply_linear(ThreadPool& pool, ConstMatrixRef x, const Linear& w, MatrixRef y) {
    HEADLIGHT_CHECK(w.weight && x.cols() == w.in && y.rows() == x.rows() && y.cols() == w.out);
    if (x.rows() == 0) return;
    const bool small_batch = x.rows() <= kSmallBatch;
    const auto task = w.dtype != &float32()              ? decoded_task
                      : w.layout == WeightLayout::in_out ? streaming_task
                                                         : dot_task;
    const int64_t share = (w.out / (4 * pool.threads()) + kPanel - 1) / kPanel *
                          kPanel;  // several tasks a thread: a busy core delays one of many
    const int64_t columns = small_batch && w.layout == WeightLayout::out_in
                                ? 512
                                : std::clamp<int64_t>(share, kPanel, kTaskColumns);
    pool.run(narrow<int>((w.out + columns - 1) / columns), [&](int i) {
        const int64_t begin = i * columns, end = std::min<int64_t>(w.out, begin + columns);
        if (small_batch)
            task(x, w, y, begin, end);
        else
            multiply_packed(pool, x, w, y, begin, end);
    });
}

}  // namespace headlight
