// Dense products of many rows: each task packs its panel of outputs so that every row tile streams through it
// from the cache (Goto and van de Geijn 2008).
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "model/linear_vectors.h"

namespace headlight {

namespace {

constexpr int64_t kDepth = 384;            // inputs packed at a time
constexpr int64_t kEncodedDepth = 256;     // the same where they are decoded: whole blocks of every format
constexpr int kLine = 64 / sizeof(float);  // floats of a cache line

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

template <size_t... R>
constexpr auto tile_table(std::index_sequence<R...>) {
    return std::array{&tile<R + 1>...};
}
constexpr auto kTiles = tile_table(std::make_index_sequence<kRows>());

/// A tile of at most kRows rows against one packed panel of `width` ≤ kPanel outputs.
void multiply_panel(ConstMatrixRef x, const float* panel, int64_t k0, int64_t depth, MatrixRef y, int64_t o0,
                    int64_t width, const float* bias, Prefetch prefetch) {
    const auto rows = x.rows();
    const auto kernel = kTiles[rows - 1];
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
            for (int64_t k = kb; k < std::min(kb + kBlock, depth); ++k) packed[k * kPanel + o] = rows[o][k];
}

/// packed[k][kPanel] = the weights of `width` outputs from o0 on, for inputs [k0, k0 + depth); zeros beyond
/// the width.
void pack_panel(const Linear& w, int64_t k0, int64_t depth, int64_t o0, int64_t width, float* packed) {
    const auto stride = w.stride / static_cast<int64_t>(sizeof(float));
    if (width < kPanel) std::fill_n(packed, depth * kPanel, 0.0f);
    PanelRows rows;
    if (w.dtype != &float32()) {
        static thread_local std::vector<float> decoded(kPanel * kEncodedDepth);
        for (int64_t o = 0; o < width; ++o) {
            w.read(o0 + o, k0, depth, decoded.data() + o * depth);
            rows[o] = decoded.data() + o * depth;
        }
        return pack_rows(rows, depth, width, packed);
    }
    if (w.layout == WeightLayout::out_in) {
        for (int64_t o = 0; o < width; ++o) rows[o] = w.floats(o0 + o) + k0;
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

}  // namespace

// Many rows meet one panel: it takes long enough to be stopped on the way.
void multiply_packed(const ThreadPool& pool, ConstMatrixRef x, const Linear& w, MatrixRef y, int64_t begin,
                     int64_t end) {
    static thread_local std::vector<float> packed(kDepth * kTaskColumns);
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

}  // namespace headlight
