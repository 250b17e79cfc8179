// A task is a panel of outputs. With few rows the weights are read once, in place; with many, each task packs its
// panel so that every row tile streams through it from the cache.
#include "model/linear.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace headlight {

namespace {

#if defined(__AVX512F__)
constexpr int kLanes = 16, kRows = 12;
#elif defined(__AVX__)
constexpr int kLanes = 8, kRows = 6;
#else
constexpr int kLanes = 4, kRows = 6;
#endif
constexpr int kVectors = 2;                  // register tile: kRows rows × kVectors vectors of outputs
constexpr int kPanel = kLanes * kVectors;    // outputs of one register tile
constexpr int64_t kTaskColumns = 2 * kPanel; // outputs of one task
constexpr int64_t kDepth = 768;              // inputs packed at a time
constexpr int64_t kFewRows = 16;             // up to here packing costs more than it saves
constexpr int kPrefetchRows = 12;

typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));
typedef float LooseLanes __attribute__((vector_size(kLanes * sizeof(float)), aligned(4)));

inline Lanes load(const float* p) { return *reinterpret_cast<const LooseLanes*>(p); }
inline void store(float* p, Lanes v) { *reinterpret_cast<LooseLanes*>(p) = v; }

/// Rows of x (stride ldx) times a panel b of `depth` rows (stride ldb); adds to y, or starts it from the bias.
template <int R, bool Prefetch>
void tile(const float* x, int64_t ldx, const float* b, int64_t ldb, int64_t depth, float* y, int64_t ldy, const float* bias, bool first) {
    Lanes sum[R][kVectors];
    for (int r = 0; r < R; ++r)
        for (int v = 0; v < kVectors; ++v)
            sum[r][v] = !first ? load(y + r * ldy + v * kLanes) : bias ? load(bias + v * kLanes) : Lanes{};
    for (int64_t k = 0; k < depth; ++k) {
        Lanes w[kVectors];
        for (int v = 0; v < kVectors; ++v) w[v] = load(b + k * ldb + v * kLanes);
        if constexpr (Prefetch)
            for (int v = 0; v < kVectors; ++v) __builtin_prefetch(b + (k + kPrefetchRows) * ldb + v * kLanes);
        for (int r = 0; r < R; ++r)
            for (int v = 0; v < kVectors; ++v) sum[r][v] += x[r * ldx + k] * w[v];
    }
    for (int r = 0; r < R; ++r)
        for (int v = 0; v < kVectors; ++v) store(y + r * ldy + v * kLanes, sum[r][v]);
}

using TileFunction = void (*)(const float*, int64_t, const float*, int64_t, int64_t, float*, int64_t, const float*, bool);

template <bool Prefetch, size_t... R>
constexpr std::array<TileFunction, sizeof...(R)> tile_table(std::index_sequence<R...>) {
    return {tile<static_cast<int>(R) + 1, Prefetch>...};
}
constexpr auto kTiles = tile_table<false>(std::make_index_sequence<kRows>());
constexpr auto kStreamingTiles = tile_table<true>(std::make_index_sequence<kRows>());

/// All rows of x against one panel of `width` ≤ kPanel outputs.
void multiply_panel(ConstMatrixRef x, const float* b, int64_t ldb, int64_t k0, int64_t depth, MatrixRef y, int64_t o0, int64_t width,
                    const float* bias, bool first, bool streaming) {
    const auto& table = streaming ? kStreamingTiles : kTiles;
    std::array<float, kRows * kPanel> edge;
    std::array<float, kPanel> edge_bias{};
    const bool narrow = width < kPanel;
    if (narrow && bias) std::copy_n(bias, width, edge_bias.begin());
    for (int64_t r = 0; r < x.rows(); r += kRows) {
        const int64_t rows = std::min<int64_t>(kRows, x.rows() - r);
        const float* in = x.data() + r * x.outerStride() + k0;
        float* out = y.data() + r * y.outerStride() + o0;
        if (!narrow) {
            table[static_cast<size_t>(rows - 1)](in, x.outerStride(), b, ldb, depth, out, y.outerStride(), bias, first);
            continue;
        }
        for (int64_t i = 0; i < rows && !first; ++i) std::copy_n(out + i * y.outerStride(), width, edge.begin() + i * kPanel);
        table[static_cast<size_t>(rows - 1)](in, x.outerStride(), b, ldb, depth, edge.data(), kPanel, bias ? edge_bias.data() : nullptr, first);
        for (int64_t i = 0; i < rows; ++i) std::copy_n(edge.begin() + i * kPanel, width, out + i * y.outerStride());
    }
}

/// packed[k][kPanel] = the weights of `width` outputs from o0 on, for inputs [k0, k0 + depth); zeros beyond the width.
void pack_panel(const Linear& w, int64_t k0, int64_t depth, int64_t o0, int64_t width, float* packed) {
    if (width < kPanel) std::fill_n(packed, depth * kPanel, 0.0f);
    if (w.layout == WeightLayout::in_out) {
        for (int64_t k = 0; k < depth; ++k) std::memcpy(packed + k * kPanel, w.weight + (k0 + k) * w.stride + o0, static_cast<size_t>(width) * sizeof(float));
        return;
    }
    constexpr int64_t kBlock = 16;
    for (int64_t kb = 0; kb < depth; kb += kBlock)
        for (int64_t o = 0; o < width; ++o)
            for (int64_t k = kb; k < std::min(kb + kBlock, depth); ++k) packed[k * kPanel + o] = w.weight[(o0 + o) * w.stride + k0 + k];
}

void packed_task(ConstMatrixRef x, const Linear& w, MatrixRef y, int64_t begin, int64_t end) {
    static thread_local std::vector<float> packed;
    packed.resize(static_cast<size_t>(kDepth * kTaskColumns));
    for (int64_t k0 = 0; k0 < w.in; k0 += kDepth) {
        const int64_t depth = std::min(kDepth, w.in - k0);
        for (int64_t o = begin; o < end; o += kPanel) pack_panel(w, k0, depth, o, std::min<int64_t>(kPanel, end - o), packed.data() + (o - begin) * kDepth);
        for (int64_t r = 0; r < x.rows(); r += kRows) {
            const int64_t rows = std::min<int64_t>(kRows, x.rows() - r);
            for (int64_t o = begin; o < end; o += kPanel)
                multiply_panel(x.middleRows(r, rows), packed.data() + (o - begin) * kDepth, kPanel, k0, depth, y.middleRows(r, rows), o,
                               std::min<int64_t>(kPanel, end - o), w.bias ? w.bias + o : nullptr, k0 == 0, false);
        }
    }
}

void streaming_task(ConstMatrixRef x, const Linear& w, MatrixRef y, int64_t begin, int64_t end) {
    for (int64_t o = begin; o + kPanel <= end; o += kPanel)
        multiply_panel(x, w.weight + o, w.stride, 0, w.in, y, o, kPanel, w.bias ? w.bias + o : nullptr, true, true);
    if (const int64_t rest = (end - begin) % kPanel; rest > 0) packed_task(x, w, y, end - rest, end);
}

/// R rows of x against single stored rows: y = Σ_k x[k] · w[k], lanes summed at the end.
template <int R>
void dot_rows(ConstMatrixRef x, int64_t row, const Linear& w, MatrixRef y, int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
        const float* weights = w.weight + o * w.stride;
        Lanes sum[R] = {};
        int64_t k = 0;
        for (; k + kLanes <= w.in; k += kLanes) {
            const Lanes v = load(weights + k);
            __builtin_prefetch(weights + k + 2 * w.stride);
            for (int r = 0; r < R; ++r) sum[r] += load(x.data() + (row + r) * x.outerStride() + k) * v;
        }
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

}  // namespace

Linear Linear::columns(int64_t first, int64_t count) const {
    Linear part = *this;
    part.weight += layout == WeightLayout::in_out ? first : first * stride;
    part.bias = bias ? bias + first : nullptr;
    part.out = count;
    return part;
}

void apply_linear(ThreadPool& pool, ConstMatrixRef x, const Linear& w, MatrixRef y) {
    if (x.rows() == 0) return;
    const bool few = x.rows() <= kFewRows;
    const auto task = !few ? packed_task : w.layout == WeightLayout::in_out ? streaming_task : dot_task;
    const int64_t columns = few && w.layout == WeightLayout::out_in ? 512 : kTaskColumns;
    pool.run(static_cast<int>((w.out + columns - 1) / columns), [&](int i) { task(x, w, y, i * columns, std::min<int64_t>(w.out, (i + 1) * columns)); });
}

}  // namespace headlight
