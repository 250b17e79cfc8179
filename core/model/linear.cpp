// A task is some panels of outputs. Its weights are met where they lie, or packed or decoded a
// block of inputs at a time; the kernels of core/kernels do the sums.
#include "model/linear.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/cast.h"
#include "base/check.h"
#include "kernels/choice.h"
#include "model/linear_here.h"

namespace headlight {

namespace {

constexpr int64_t kDepth = 192;     // inputs met at a time: a packed panel of them fits the first-level cache
constexpr int64_t kDotDepth = 768;  // the same where rows of weights are: whole blocks of every format
constexpr int64_t kTaskPanels = 4;  // panels of one task at most: packed, they fit the second-level cache
constexpr int64_t kRowBlock = 96;   // rows of x that meet them together
constexpr int64_t kFewRows = 16;    // up to here packing costs more than it saves
constexpr int64_t kFewEncoded = 3;  // up to here encoded weights are decoded anew for each row of x
// Where few rows meet the weights, these are fetched so far ahead:
constexpr int64_t kAhead = 64;     // inputs of [in, out]
constexpr int64_t kRowsAhead = 8;  // outputs of [out, in]
constexpr auto kFloat = static_cast<int64_t>(sizeof(float));

bool is_float32(const Linear& w) { return w.dtype == &float32(); }

/// Weights as the kernels read them: [depth, outputs], rows `stride` apart.
struct Panel {
    const float* weights = nullptr;
    int64_t stride = 0;
};

/// Inputs [k0, k0 + depth) of the outputs [o, o + count): where they lie, or packed into `room`.
Panel panel_of(const Linear& w, int64_t k0, int64_t depth, int64_t o, int64_t count, bool in_place,
               float* room) {
    const Panel stored{w.floats(k0) + o, w.stride / kFloat};
    if (in_place && count % kSumLanes == 0) return stored;  // else a kernel would read beyond the row
    for (int64_t k = 0; k < depth; ++k)
        std::copy_n(stored.weights + k * stored.stride, count, room + k * kPanel);
    return {room, kPanel};
}

/// Where the weights lie that are met after inputs [k0, k0 + depth) of the outputs from o on: few rows of x
/// run through them, so that the next inputs come soon; else a whole panel is packed at once, and with the
/// last one a task of two further on is likely to be next.
uintptr_t weights_after(const Linear& w, int64_t k0, int64_t depth, int64_t o, bool few) {
    const auto at = [&](int64_t input, int64_t output) {
        return reinterpret_cast<uintptr_t>(w.weight) +
               static_cast<uintptr_t>(input * w.stride + output * kFloat);
    };
    if (few) return at(k0 + kAhead, o);
    return k0 + depth < w.in ? at(k0 + depth, o) : at(0, o + 2 * kTaskPanels * kPanel);
}

/// Weights stored [in, out]: all rows of x, outputs [begin, end) of at most kTaskPanels panels.
void multiply_panels(const CancelFlag* cancel, ConstMatrixRef x, const Linear& w, MatrixRef y, int64_t begin,
                     int64_t end) {
    static thread_local std::vector<float> packed(kTaskPanels * kPanel * kDepth);
    const bool few = x.rows() <= kFewRows;
    const int64_t width = x.rows() == 1 && (end - begin) % kSumLanes == 0 ? end - begin : kPanel;
    std::array<Panel, kTaskPanels> panels;
    for (int64_t k0 = 0; k0 < w.in && !stopped(cancel); k0 += kDepth) {
        const int64_t depth = std::min(kDepth, w.in - k0);
        for (int64_t o = begin, i = 0; o < end; o += width, ++i)
            panels[i] =
                panel_of(w, k0, depth, o, std::min(width, end - o), few, packed.data() + i * kPanel * kDepth);
        for (int64_t row = 0; row < x.rows(); row += kRowBlock)
            for (int64_t o = begin, i = 0; o < end; o += width, ++i) {
                const Panel& panel = panels[i];
                kernels().multiply({.x = x.data() + row * x.outerStride() + k0,
                                    .x_stride = x.outerStride(),
                                    .rows = std::min<int64_t>(kRowBlock, x.rows() - row),
                                    .w = panel.weights,
                                    .w_stride = panel.stride,
                                    .depth = depth,
                                    .width = std::min(width, end - o),
                                    .y = y.data() + row * y.outerStride() + o,
                                    .y_stride = y.outerStride(),
                                    .begin = k0 == 0,
                                    .bias = w.bias ? w.bias + o : nullptr,
                                    .ahead = row == 0 ? weights_after(w, k0, depth, o, few) : 0,
                                    .ahead_stride = w.stride / kFloat,
                                    .ahead_whole = few});
            }
    }
}

/// Inputs [k0, k0 + depth) of the outputs [o, o + count) of weights stored [out, in], as the kernels read
/// them: where they lie, or decoded.
std::array<const uint8_t*, kPanel> rows_of(const Linear& w, int64_t k0, int64_t depth, int64_t o,
                                           int64_t count, bool in_place) {
    static thread_local std::vector<float> decoded(kPanel * kDotDepth);
    std::array<const uint8_t*, kPanel> rows;
    for (int64_t i = 0; i < count; ++i) {
        float* const row = decoded.data() + i * depth;
        if (!in_place) w.read(o + i, k0, depth, row);
        rows[i] = reinterpret_cast<const uint8_t*>(in_place ? w.row(o + i) + w.dtype->size(k0)
                                                            : reinterpret_cast<const std::byte*>(row));
    }
    return rows;
}

/// Weights stored [out, in]: all rows of x, outputs [begin, end). A few rows of x meet encoded weights where
/// they lie; more meet a block of them that is decoded once.
void multiply_rows(const CancelFlag* cancel, ConstMatrixRef x, const Linear& w, MatrixRef y, int64_t begin,
                   int64_t end) {
    const bool in_place = is_float32(w) || x.rows() <= kFewEncoded;
    const auto dot = is_float32(w) || !in_place ? kernels().dot : kernels().formats[w.dtype->format].dot;
    const int64_t outputs = is_float32(w) || !in_place ? kPanel : kRowsAhead;
    for (int64_t o = begin; o < end && !stopped(cancel); o += outputs)
        for (int64_t k0 = 0; k0 < w.in; k0 += kDotDepth) {
            const int64_t depth = std::min(kDotDepth, w.in - k0), count = std::min(outputs, end - o);
            const auto rows = rows_of(w, k0, depth, o, count, in_place);
            for (int64_t row = 0; row < x.rows(); row += kRowBlock)
                dot({.x = x.data() + row * x.outerStride() + k0,
                     .x_stride = x.outerStride(),
                     .rows = std::min<int64_t>(kRowBlock, x.rows() - row),
                     .w = rows.data(),
                     .count = count,
                     .depth = depth,
                     .y = y.data() + row * y.outerStride() + o,
                     .y_stride = y.outerStride(),
                     .begin = k0 == 0,
                     .bias = w.bias ? w.bias + o : nullptr,
                     .ahead = in_place && x.rows() <= kFewRows ? kRowsAhead * w.stride : 0});
        }
}

void multiply_outputs(const CancelFlag* cancel, ConstMatrixRef x, const Linear& w, MatrixRef y, int64_t begin,
                      int64_t end) {
    (w.layout == WeightLayout::in_out ? multiply_panels : multiply_rows)(cancel, x, w, y, begin, end);
}

void check_shapes(ConstMatrixRef x, const Linear& w, MatrixRef y) {
    HEADLIGHT_CHECK(w.weight && x.cols() == w.in && y.rows() == x.rows() && y.cols() == w.out);
    HEADLIGHT_CHECK(w.layout == WeightLayout::out_in || is_float32(w));
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

Linear linear_of(ConstMatrixRef rows) {
    Linear w = Linear::of_floats(rows.data(), nullptr, rows.rows(), rows.cols(), WeightLayout::in_out);
    w.stride = rows.outerStride() * kFloat;
    return w;
}

void apply_linear(ThreadPool& pool, ConstMatrixRef x, const Linear& w, MatrixRef y) {
    check_shapes(x, w, y);
    if (x.rows() == 0) return;
    const int64_t panels = (w.out + kPanel - 1) / kPanel,
                  share = x.rows() == 1 ? kTaskPanels
                                        : std::clamp<int64_t>(panels / (4 * pool.threads()), 1, kTaskPanels),
                  columns = share * kPanel;  // several tasks a thread: a busy core delays one of many
    pool.run(narrow<int>((w.out + columns - 1) / columns), [&](int i) {
        multiply_outputs(pool.cancel_flag(), x, w, y, i * columns,
                         std::min<int64_t>(w.out, (i + 1) * columns));
    });
}

void apply_linear_here(ConstMatrixRef x, const Linear& w, MatrixRef y) {
    check_shapes(x, w, y);
    for (int64_t begin = 0; begin < w.out; begin += kTaskPanels * kPanel)
        multiply_outputs(nullptr, x, w, y, begin, std::min<int64_t>(w.out, begin + kTaskPanels * kPanel));
}

}  // namespace headlight
