// A task is a panel of outputs. With few rows the weights are read once, in place; with many, each task packs
// its panel so that every row tile streams through it from the cache.
#include "model/linear.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/check.h"

namespace headlight {

namespace {

#if defined(__AVX512F__)
constexpr int kLanes = 16, kRows = 12;
#elif defined(__AVX__)
constexpr int kLanes = 8, kRows = 6;
#else
constexpr int kLanes = 4, kRows = 6;
#endif
constexpr int kVectors = 2;                   // register tile: kRows rows × kVectors vectors of outputs
constexpr int kPanel = kLanes * kVectors;     // outputs of one register tile
constexpr int64_t kTaskColumns = 4 * kPanel;  // outputs of one task
constexpr int64_t kDepth = 384;               // inputs packed at a time
constexpr int64_t kEncodedDepth = 256;        // the same where they are decoded: whole blocks of every format
constexpr int64_t kDecodedRows = 16;          // rows decoded at a time where few rows of x meet them
constexpr int64_t kSmallBatch = 16;           // up to here packing costs more than it saves
constexpr int64_t kStreamDepth = 32;       // inputs whose weights stay in the first-level cache for all rows
constexpr int kLine = 64 / sizeof(float);  // floats of a cache line

typedef float Vec __attribute__((vector_size(kLanes * sizeof(float))));
typedef float UnalignedVec __attribute__((vector_size(kLanes * sizeof(float)), aligned(4)));

inline Vec load(const float* p) { return *reinterpret_cast<const UnalignedVec*>(p); }
inline void store(float* p, Vec v) { *reinterpret_cast<UnalignedVec*>(p) = v; }

/// Weights that are needed soon: one cache line of each row.
struct Prefetch {
    const float* line = nullptr;
    int64_t stride = 0;
};

/// R rows of x (stride ldx) times a packed panel of `depth` rows; adds to y, or starts it from the bias.
/// The pragmas keep the sums in registers: without them GCC unrolls too late to take them out of memory.
template <int R>
void tile(const float* x, int64_t ldx, const float* panel, int64_t depth, float* y, int64_t ldy,
          const float* bias, bool first, Prefetch prefetch) {
    Vec sum[R][kVectors];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v)
            sum[r][v] = !first ? load(y + r * ldy + v * kLanes) : bias ? load(bias + v * kLanes) : Vec{};
    for (int64_t k = 0; k < depth; ++k) {
        Vec w[kVectors];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) w[v] = load(panel + k * kPanel + v * kLanes);
        __builtin_prefetch(prefetch.line + k * prefetch.stride, 0, 2);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
            for (int v = 0; v < kVectors; ++v) sum[r][v] += x[r * ldx + k] * w[v];
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) store(y + r * ldy + v * kLanes, sum[r][v]);
}

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
constexpr auto tile_table(std::index_sequence<R...>) {
    return std::array{&tile<static_cast<int>(R) + 1>...};
}
template <size_t... R>
constexpr auto stream_table(std::index_sequence<R...>) {
    return std::array{&stream<static_cast<int>(R) + 1>...};
}
constexpr auto kTiles = tile_table(std::make_index_sequence<kRows>());
constexpr int kStreamRows = 8;
constexpr auto kStreams = stream_table(std::make_index_sequence<kStreamRows>());

/// A tile of at most kRows rows against one packed panel of `width` ≤ kPanel outputs.
void multiply_panel(ConstMatrixRef x, const float* panel, int64_t k0, int64_t depth, MatrixRef y, int64_t o0,
                    int64_t width, const float* bias, Prefetch prefetch) {
    const auto rows = x.rows();
    const auto kernel = kTiles[static_cast<size_t>(rows - 1)];
    float* out = y.data() + o0;
    if (width == kPanel)
        return kernel(x.data() + k0, x.outerStride(), panel, depth, out, y.outerStride(), bias, k0 == 0,
                      prefetch);
    std::array<float, kRows * kPanel> edge{};
    std::array<float, kPanel> edge_bias{};
    if (bias) std::copy_n(bias, width, edge_bias.begin());
    for (Index i = 0; i < rows; ++i) std::copy_n(out + i * y.outerStride(), width, edge.begin() + i * kPanel);
    kernel(x.data() + k0, x.outerStride(), panel, depth, edge.data(), kPanel, edge_bias.data(), k0 == 0,
           prefetch);
    for (Index i = 0; i < rows; ++i) std::copy_n(edge.begin() + i * kPanel, width, out + i * y.outerStride());
}

using PanelRows = std::array<const float*, kPanel>;

/// packed[k][kPanel] = the transpose of `width` rows of `depth` floats.
void pack_rows(const PanelRows& rows, int64_t depth, int64_t width, float* packed) {
    constexpr int64_t kBlock = 16;
    for (int64_t kb = 0; kb < depth; kb += kBlock)
        for (int64_t o = 0; o < width; ++o)
            for (int64_t k = kb; k < std::min(kb + kBlock, depth); ++k)
                packed[k * kPanel + o] = rows[static_cast<size_t>(o)][k];
}

/// packed[k][kPanel] = the weights of `width` outputs from o0 on, for inputs [k0, k0 + depth); zeros beyond
/// the width.
void pack_panel(const Linear& w, int64_t k0, int64_t depth, int64_t o0, int64_t width, float* packed) {
    const auto stride = w.stride / static_cast<int64_t>(sizeof(float));
    if (width < kPanel) std::fill_n(packed, depth * kPanel, 0.0f);
    PanelRows rows;
    if (w.dtype != &float32()) {
        static thread_local std::vector<float> decoded(static_cast<size_t>(kPanel * kEncodedDepth));
        for (int64_t o = 0; o < width; ++o) {
            w.read(o0 + o, k0, depth, decoded.data() + o * depth);
            rows[static_cast<size_t>(o)] = decoded.data() + o * depth;
        }
        return pack_rows(rows, depth, width, packed);
    }
    if (w.layout == WeightLayout::out_in) {
        for (int64_t o = 0; o < width; ++o) rows[static_cast<size_t>(o)] = w.floats(o0 + o) + k0;
        return pack_rows(rows, depth, width, packed);
    }
    const float* from = w.floats(k0) + o0;
    if (width == kPanel) {
        for (int64_t k = 0; k < depth; ++k)
            for (int v = 0; v < kVectors; ++v)
                store(packed + k * kPanel + v * kLanes, load(from + k * stride + v * kLanes));
    } else {
        for (int64_t k = 0; k < depth; ++k) std::copy_n(from + k * stride, width, packed + k * kPanel);
    }
}

/// Where the weights lie that are packed after [k0, k0 + depth): deeper inputs, else (a guess) the outputs
/// two tasks on.
Prefetch next_panel(const Linear& w, int64_t k0, int64_t depth, int64_t begin, int line) {
    const bool deeper = k0 + kDepth < w.in;
    const int64_t o = deeper ? begin : begin + 2 * kTaskColumns;
    if (w.dtype != &float32() || o + kTaskColumns > w.out || (deeper && w.layout == WeightLayout::out_in))
        return {w.floats(0), 0};
    if (w.layout == WeightLayout::out_in) return {w.floats(o) + line * depth * kLine, kLine};
    return {w.floats(deeper ? k0 + kDepth : 0) + o + line * kLine,
            w.stride / static_cast<int64_t>(sizeof(float))};
}

/// Many rows meet one panel: it takes long enough to be stopped on the way.
void packed_task(const ThreadPool& pool, ConstMatrixRef x, const Linear& w, MatrixRef y, int64_t begin,
                 int64_t end) {
    static thread_local std::vector<float> packed(static_cast<size_t>(kDepth * kTaskColumns));
    const int64_t step = w.dtype == &float32() ? kDepth : kEncodedDepth;
    for (int64_t k0 = 0; k0 < w.in && !pool.stopped(); k0 += step) {
        const int64_t depth = std::min(step, w.in - k0);
        for (int64_t o = begin; o < end; o += kPanel)
            pack_panel(w, k0, depth, o, std::min<int64_t>(kPanel, end - o),
                       packed.data() + (o - begin) * kDepth);
        int line = 0;
        const int64_t tiles = (x.rows() + kRows - 1) / kRows,
                      height = (x.rows() + tiles - 1) / tiles;  // tiles of one height: none is thin
        for (int64_t r = 0; r < x.rows(); r += height) {
            const int64_t rows = std::min(height, x.rows() - r);
            for (int64_t o = begin; o < end; o += kPanel, ++line) {
                const bool useful = line < kTaskColumns / kLine;
                multiply_panel(x.middleRows(r, rows), packed.data() + (o - begin) * kDepth, k0, depth,
                               y.middleRows(r, rows), o, std::min<int64_t>(kPanel, end - o),
                               w.bias ? w.bias + o : nullptr,
                               useful ? next_panel(w, k0, depth, begin, line) : Prefetch{packed.data(), 0});
            }
        }
    }
}

void streaming_task(ConstMatrixRef x, const Linear& w, MatrixRef y, int64_t begin, int64_t end) {
    const auto stride = w.stride / static_cast<int64_t>(sizeof(float));
    const int64_t width = (end - begin) / kLanes * kLanes;
    for (Index r = 0; r < x.rows(); ++r)
        for (int64_t o = begin; o < end; ++o) y(r, o) = w.bias ? w.bias[o] : 0.0f;
    for (int64_t k0 = 0; k0 < w.in; k0 += kStreamDepth) {
        const int64_t depth = std::min(kStreamDepth, w.in - k0);
        for (Index r = 0; r < x.rows(); r += kStreamRows) {
            const auto rows = std::min<Index>(kStreamRows, x.rows() - r);
            kStreams[static_cast<size_t>(rows - 1)](x.data() + r * x.outerStride() + k0, x.outerStride(),
                                                    w.floats(k0) + begin, stride, depth, width,
                                                    y.data() + r * y.outerStride() + begin, y.outerStride());
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
    decoded.resize(static_cast<size_t>(kDecodedRows * w.in));
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
    pool.run(static_cast<int>((w.out + columns - 1) / columns), [&](int i) {
        const int64_t begin = i * columns, end = std::min<int64_t>(w.out, begin + columns);
        if (small_batch)
            task(x, w, y, begin, end);
        else
            packed_task(pool, x, w, y, begin, end);
    });
}

}  // namespace headlight
