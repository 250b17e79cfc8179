// Multiplies dense matrices by register tiles (Goto and van de Geijn 2008), for base.cpp, v3.cpp and v4.cpp.
#pragma once

#include "kernels/kernels.h"
#include "kernels/vectors.h"

namespace headlight {
namespace {

/// Points to the operands of a tile, and to what it prefetches at each k.
struct TileAt {
    const float *x, *w, *bias;
    float* y;
    int64_t y_stride;
    uintptr_t ahead;
    int64_t ahead_step;
};

/// Multiplies R rows of x by V vectors of columns; prefetches `Lines` cache lines at each k. The pragmas keep
/// the sums in registers: without them GCC unrolls too late for that.
template <int R, int V, int Lines>
void tile(const Product& p, const TileAt& at) {
    const float *x = at.x, *w = at.w;
    const int64_t x_stride = p.x_stride, w_stride = p.w_stride, depth = p.depth, y_stride = at.y_stride;
    Vec sum[R][V];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 12
        for (int v = 0; v < V; ++v)
            sum[r][v] = !p.begin  ? load(at.y + r * y_stride + v * kLanes)
                        : at.bias ? load(at.bias + v * kLanes)
                                  : Vec{};
    for (int64_t k = 0; k < depth; ++k) {
        Vec weights[V];
#pragma GCC unroll 12
        for (int v = 0; v < V; ++v) weights[v] = load(w + k * w_stride + v * kLanes);
#pragma GCC unroll 4
        for (int line = 0; line < Lines; ++line) fetch_next(at.ahead, k * at.ahead_step + line * kLine);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) {
            const Vec input = all(x[r * x_stride + k]);
#pragma GCC unroll 12
            for (int v = 0; v < V; ++v) sum[r][v] = fused(input, weights[v], sum[r][v]);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 12
        for (int v = 0; v < V; ++v) store(at.y + r * y_stride + v * kLanes, sum[r][v]);
}

using Tile = void (*)(const Product&, const TileAt&);
template <int V, int Lines>
struct Tiles {
    static constexpr Tile kOf[8] = {tile<1, V, Lines>, tile<2, V, Lines>, tile<3, V, Lines>,
                                    tile<4, V, Lines>, tile<5, V, Lines>, tile<6, V, Lines>,
                                    tile<7, V, Lines>, tile<8, V, Lines>};
};
constexpr int kPanelVectors = kPanel / kLanes;  // columns of a tile of one row: enough sums to overlap
template <int Lines>
struct TilesOf {
    static constexpr Tile kRow = tile<1, kPanelVectors, Lines>;
    static constexpr const Tile* kOf[] = {Tiles<1, Lines>::kOf, Tiles<2, Lines>::kOf, Tiles<3, Lines>::kOf};
};

/// Computes a tile whose columns end within a vector, in a buffer of whole vectors.
void edge_tile(Tile kernel, const Product& p, TileAt at, int64_t rows, int64_t width) {
    constexpr int64_t kWidth = kLanes * kTileVectors;
    float y[kTileRows * kWidth] = {}, bias[kWidth] = {};
    float* const out = at.y;
    const int64_t stride = at.y_stride;
    for (int64_t c = 0; at.bias && c < width; ++c) bias[c] = at.bias[c];
    for (int64_t r = 0; !p.begin && r < rows; ++r)
        for (int64_t c = 0; c < width; ++c) y[r * kWidth + c] = out[r * stride + c];
    at.y = y;
    at.y_stride = kWidth;
    at.bias = bias;
    kernel(p, at);
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < width; ++c) out[r * stride + c] = y[r * kWidth + c];
}

/// Multiplies by tiles, each of which prefetches `Lines` cache lines at each k.
template <int Lines>
void multiply_tiles(const Product& p, int64_t tile_width, int64_t ahead_step) {
    const int64_t tiles = (p.rows + kTileRows - 1) / kTileRows;
    uintptr_t ahead = p.ahead;
    for (int64_t c = 0; c < p.width; c += tile_width) {
        const int64_t width = p.width - c < tile_width ? p.width - c : tile_width,
                      vectors = (width + kLanes - 1) / kLanes;
        for (int64_t i = 0; i < tiles; ++i) {  // of equal height, so that none is thin
            const int64_t row = i * p.rows / tiles, rows = (i + 1) * p.rows / tiles - row;
            const Tile kernel =
                vectors > kTileVectors ? TilesOf<Lines>::kRow : TilesOf<Lines>::kOf[vectors - 1][rows - 1];
            const TileAt at{p.x + row * p.x_stride,
                            p.w + c,
                            p.bias ? p.bias + c : nullptr,
                            p.y + row * p.y_stride + c,
                            p.y_stride,
                            ahead,
                            ahead_step};
            ahead += static_cast<uintptr_t>(ahead_step * p.depth);
            if (width % kLanes)
                edge_tile(kernel, p, at, rows, width);
            else
                kernel(p, at);
        }
    }
}

void multiply(const Product& p) {
    const bool whole_row = p.rows == 1 && p.width == kPanel;
    const int64_t tile_width = whole_row ? kPanel : kLanes * kTileVectors,
                  tiles = (p.rows + kTileRows - 1) / kTileRows * ((p.width + tile_width - 1) / tile_width);
    if (p.ahead_bytes == 0 || p.depth == 0) return multiply_tiles<0>(p, tile_width, 0);
    const int64_t step = (p.ahead_bytes + tiles * p.depth - 1) / (tiles * p.depth);
    step <= kLine ? multiply_tiles<1>(p, tile_width, step) : multiply_tiles<3>(p, tile_width, step);
}

#if defined(__AVX512F__)
Vec interleave_low(Vec a, Vec b) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
Vec interleave_high(Vec a, Vec b) {
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
#elif defined(__AVX2__) && defined(__FMA__)
Vec interleave_low(Vec a, Vec b) { return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11); }
Vec interleave_high(Vec a, Vec b) { return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15); }
#else
Vec interleave_low(Vec a, Vec b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
Vec interleave_high(Vec a, Vec b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
#endif

/// square[i][j] ↔ square[j][i]: each round interleaves the rows of the first half with those of the second.
[[gnu::always_inline]] inline void transpose_lanes(Vec* square) {
    Vec next[kLanes];
#pragma GCC unroll 4
    for (int64_t half = 1; half < kLanes; half *= 2) {
#pragma GCC unroll 8
        for (int64_t i = 0; i < kLanes / 2; ++i) {
            next[2 * i] = interleave_low(square[i], square[i + kLanes / 2]);
            next[2 * i + 1] = interleave_high(square[i], square[i + kLanes / 2]);
        }
#pragma GCC unroll 16
        for (int64_t i = 0; i < kLanes; ++i) square[i] = next[i];
    }
}

/// Transposes a square of lanes into panel[k][o].
void transpose_square(const float* const* rows, int64_t count, int64_t k, float* panel) {
    Vec square[kLanes];
#pragma GCC unroll 16
    for (int64_t i = 0; i < kLanes; ++i) square[i] = i < count ? load(rows[i] + k) : Vec{};
    transpose_lanes(square);
#pragma GCC unroll 16
    for (int64_t i = 0; i < kLanes; ++i) store(panel + i * kPanel, square[i]);
}

void transpose(const float* const* rows, int64_t count, int64_t depth, float* panel) {
    const int64_t whole = depth / kLanes * kLanes;
    for (int64_t k = 0; k < whole; k += kLanes)
        for (int64_t o = 0; o < kPanel; o += kLanes)
            transpose_square(rows + (o < count ? o : 0), count - o, k, panel + k * kPanel + o);
    for (int64_t k = whole; k < depth; ++k)
        for (int64_t o = 0; o < kPanel; ++o) panel[k * kPanel + o] = o < count ? rows[o][k] : 0.0f;
}

}  // namespace
}  // namespace headlight
