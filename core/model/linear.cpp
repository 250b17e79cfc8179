// y = x W + b in tasks, each a few panels of outputs for a block of rows of x. Reads a panel one block of
// inputs at a time, from the packed weights or from a scratch copy; the kernels of core/kernels multiply.
#include "model/linear.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "base/cast.h"
#include "base/check.h"
#include "base/spare.h"
#include "kernels/choice.h"
#include "model/low_rank.h"

namespace headlight {

namespace {

constexpr int64_t kDepth = 192;     // inputs of a panel per step: they fit the first-level cache
constexpr int64_t kDotDepth = 768;  // the same for dot products: whole blocks of every format
constexpr int64_t kTaskPanels = 8;  // most panels of one task
constexpr int64_t kTasks = 6;       // least tasks per thread: a delayed core then holds up only one of many
constexpr int64_t kRowBlock = 96;   // rows of x multiplied by a panel together
constexpr int64_t kEvenRows = 8;    // row blocks are multiples of this, so that no tile of a kernel is thin
constexpr int64_t kFewRows = 8;     // up to this many rows, weights are streamed one panel after another
constexpr int64_t kFewInPlace = 3;  // up to this many rows, weights [out, in] are decoded in registers
constexpr int64_t kRowsAhead = 16;  // outputs prefetched meanwhile
constexpr int64_t kColumnsAhead = 16;  // inputs of weights [in, out] prefetched while others are copied

bool is_float32(const Linear& w) { return w.dtype == &float32(); }
bool is_encoded(const Linear& w) { return w.dtype->block > 1; }
const std::byte* packed_panels(const Linear& w) {
    return w.packed ? w.packed->load(std::memory_order_acquire) : nullptr;
}

/// Returns the byte offset in packed weights of input k of the panel that begins with output o.
int64_t packed_at(const Linear& w, int64_t k, int64_t o) { return w.dtype->size(o * w.in + k * kPanel); }

using FloatRows = std::array<const float*, kPanel>;
/// Returns inputs [k0, k0 + depth) of the outputs [o, o + count) of weights [out, in]: in place, or decoded.
FloatRows float_rows(const Linear& w, int64_t k0, int64_t depth, int64_t o, int64_t count) {
    static thread_local std::vector<float> decoded(kPanel * kDotDepth);
    FloatRows rows{};
    for (int64_t i = 0; i < count; ++i) {
        float* const row = decoded.data() + i * depth;
        if (!is_float32(w)) w.read_stored(o + i, k0, depth, row);
        rows[i] = is_float32(w) ? w.floats(o + i) + k0 : row;
    }
    return rows;
}

/// Holds a task's panels if the weights are not packed.
struct alignas(64) Scratch {
    std::array<std::array<float, kPanel * kDepth>, kTaskPanels> panels;
};
Scratch& scratch() {
    static thread_local const auto own = std::make_unique<Scratch>();
    return *own;
}

/// Copies inputs [k0, k0 + depth) of the outputs [begin, end) of weights [in, out] into panels; all panels of
/// a task at once, because their inputs are contiguous.
void copy_columns(const Linear& w, int64_t k0, int64_t depth, int64_t begin, int64_t end) {
    for (int64_t k = 0; k < depth; ++k) {
        const auto* const next = w.row(std::min(k0 + k + kColumnsAhead, w.in - 1)) + w.dtype->size(begin);
        for (int64_t at = 0; at < w.dtype->size(end - begin); at += 64) __builtin_prefetch(next + at);
        for (int64_t o = begin, i = 0; o < end; o += kPanel, ++i) {
            float* const to = scratch().panels[i].data() + k * kPanel;
            const int64_t count = std::min<int64_t>(kPanel, end - o);
            if (is_float32(w))
                std::copy_n(w.floats(k0 + k) + o, count, to);
            else
                w.read_stored(k0 + k, o, count, to);
        }
    }
}

/// Returns inputs [k0, k0 + depth) of the panel of outputs [o, end) as the kernels read them,
/// [depth][kPanel]. Call it in order for the panels of a task, which begin with output `begin`.
const float* panel_of(const Linear& w, const std::byte* packed, int64_t k0, int64_t depth, int64_t begin,
                      int64_t o, int64_t end) {
    const std::byte* const at = packed ? packed + packed_at(w, k0, o) : nullptr;
    if (packed && is_float32(w)) return reinterpret_cast<const float*>(at);
    if (!packed && w.layout == WeightLayout::in_out) {
        if (o == begin) copy_columns(w, k0, depth, begin, end);
        return scratch().panels[(o - begin) / kPanel].data();
    }
    float* const panel = scratch().panels[0].data();
    const int64_t count = std::min<int64_t>(kPanel, end - o);
    if (packed)
        w.dtype->decode(at, depth * kPanel, panel);
    else
        kernels().transpose(float_rows(w, k0, depth, o, count).data(), count, depth, panel);
    return panel;
}

/// Returns the packed weights to prefetch: read after inputs [k0, …) of the panel from o by [begin, end).
uintptr_t weights_after(const Linear& w, const std::byte* packed, int64_t k0, int64_t o, int64_t begin,
                        int64_t end) {
    if (!packed) return 0;
    const int64_t next = o + kPanel < end     ? packed_at(w, k0, o + kPanel)
                         : k0 + kDepth < w.in ? packed_at(w, k0 + kDepth, begin)
                                              : packed_at(w, 0, (end + kPanel - 1) / kPanel * kPanel);
    return reinterpret_cast<uintptr_t>(packed) + static_cast<uintptr_t>(next);
}

/// Multiplies x by outputs [begin, end), at most kTaskPanels panels; not for block-encoded weights.
void multiply_panels(const CancelFlag* cancel, ConstMatrixRef x, const Linear& w, const std::byte* packed,
                     MatrixRef y, int64_t begin, int64_t end) {
    for (int64_t k0 = 0; k0 < w.in && !stopped(cancel); k0 += kDepth)
        for (int64_t o = begin; o < end; o += kPanel) {
            const int64_t depth = std::min(kDepth, w.in - k0), count = std::min<int64_t>(kPanel, end - o);
            const float* const panel = panel_of(w, packed, k0, depth, begin, o, end);
            for (int64_t row = 0; row < x.rows(); row += kRowBlock)
                kernels().multiply({.x = x.data() + row * x.outerStride() + k0,
                                    .x_stride = x.outerStride(),
                                    .rows = std::min<int64_t>(kRowBlock, x.rows() - row),
                                    .w = panel,
                                    .w_stride = kPanel,
                                    .depth = depth,
                                    .width = count,
                                    .y = y.data() + row * y.outerStride() + o,
                                    .y_stride = y.outerStride(),
                                    .begin = k0 == 0,
                                    .bias = w.bias ? w.bias + o : nullptr,
                                    .ahead = weights_after(w, packed, k0, o, begin, end),
                                    .ahead_bytes = packed ? w.dtype->size(depth * kPanel) : 0});
        }
}

/// Returns inputs [k0, k0 + depth) of outputs of [out, in] for a dot-product kernel: in place or decoded.
std::array<const uint8_t*, kPanel> rows_of(const Linear& w, int64_t k0, int64_t depth, int64_t o,
                                           int64_t count, bool in_place) {
    std::array<const uint8_t*, kPanel> rows{};
    const FloatRows decoded = in_place ? FloatRows{} : float_rows(w, k0, depth, o, count);
    for (int64_t i = 0; i < count; ++i)
        rows[i] = in_place ? reinterpret_cast<const uint8_t*>(w.row(o + i) + w.dtype->size(k0))
                           : reinterpret_cast<const uint8_t*>(decoded[i]);
    return rows;
}

/// Multiplies all rows of x by outputs [begin, end) of weights [out, in]: a few rows in place; for more rows,
/// some encoded outputs at a time are decoded once.
void multiply_rows(const CancelFlag* cancel, ConstMatrixRef x, const Linear& w, MatrixRef y, int64_t begin,
                   int64_t end) {
    const bool in_place = x.rows() <= kFewInPlace;
    const auto dot = in_place ? kernels().formats[w.dtype->format].dot : kernels().dot;
    const int64_t outputs = in_place ? kRowsAhead : kPanel;
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
                     .ahead = in_place ? kRowsAhead * w.stride : 0});
        }
}

/// Multiplies all rows of x by outputs [begin, end). Streams packed weights in their order for few rows, and
/// reads [out, in] weights in place: 16-bit values are faster to read there than to decode to panels.
void multiply_outputs(const CancelFlag* cancel, ConstMatrixRef x, const Linear& w, const std::byte* packed,
                      MatrixRef y, int64_t begin, int64_t end) {
    const bool in_place =
        w.layout == WeightLayout::out_in && x.rows() <= kFewInPlace && !(packed && is_float32(w));
    if (is_encoded(w) || in_place) return multiply_rows(cancel, x, w, y, begin, end);
    const int64_t together = kPanel * (packed && x.rows() <= kFewRows ? 1 : kTaskPanels);
    for (int64_t o = begin; o < end; o += together)
        multiply_panels(cancel, x, w, packed, y, o, std::min(end, o + together));
}

int64_t ceil_div(int64_t count, int64_t by) { return (count + by - 1) / by; }

/// Cuts a product into the tasks [begin, end) of the pool's job: task begin + i multiplies the block of rows
/// i % row_blocks by the group of outputs i / row_blocks.
struct Tasks {
    const std::byte* packed;
    int64_t outputs;     // of a task
    int64_t rows;        // of x in a task
    int64_t row_blocks;  // of x
    int begin, end;
};
Tasks tasks_of(const Linear& w, int64_t rows, int threads, int begin) {
    const std::byte* const packed = packed_panels(w);
    const int64_t panels = ceil_div(w.out, kPanel);
    // One block of rows without packing: each further block would copy its panels again.
    const int64_t max_blocks = packed ? ceil_div(rows, kRowBlock) : 1;
    // Copies several panels of [in, out] weights together, because their inputs are contiguous.
    const bool copies_columns = !packed && w.layout == WeightLayout::in_out;
    const int64_t min_panels = copies_columns ? kTaskPanels / 2 : 1;
    const int64_t task_panels =
        std::clamp<int64_t>(panels * max_blocks / (kTasks * threads), min_panels, kTaskPanels);
    const int64_t even_rows = ceil_div(ceil_div(rows, max_blocks), kEvenRows) * kEvenRows;
    const int64_t row_blocks = ceil_div(rows, even_rows);
    const int64_t tasks = ceil_div(panels, task_panels) * row_blocks;
    return {packed, task_panels * kPanel, even_rows, row_blocks, begin, begin + narrow<int>(tasks)};
}

void check_shapes(ConstMatrixRef x, const Linear& w, MatrixRef y) {
    HEADLIGHT_CHECK(w.weight && x.cols() == w.in && y.rows() == x.rows() && y.cols() == w.out);
    HEADLIGHT_CHECK(w.layout == WeightLayout::out_in || !is_encoded(w));
}

}  // namespace

Linear Linear::of_floats(const float* weight, const float* bias, int64_t in, int64_t out,
                         WeightLayout layout) {
    const int64_t row = layout == WeightLayout::in_out ? out : in;
    return {reinterpret_cast<const std::byte*>(weight), bias,  in, out,
            row * static_cast<int64_t>(sizeof(float)),  layout};
}

Linear Linear::columns(int64_t first, int64_t count) const {
    HEADLIGHT_CHECK(first >= 0 && count >= 0 && first <= out && count <= out - first);
    HEADLIGHT_CHECK(!group || first % group + count <= group);
    Linear part = *this;
    part.weight = layout == WeightLayout::in_out ? weight + dtype->size(first) : row(first);
    part.bias = bias ? bias + first : nullptr;
    part.out = count;
    part.group = 0;
    part.packed = nullptr;
    return part;
}

void Linear::read(int64_t i, int64_t begin, int64_t count, float* values) const {
    if (order) {
        static thread_local std::vector<float> columns;
        columns.resize(static_cast<size_t>(in));
        read_stored(i, 0, in, columns.data());
        for (int64_t c = 0; c < in; ++c)
            if (order[c] >= begin && order[c] < begin + count) values[order[c] - begin] = columns[c];
    } else {
        read_stored(i, begin, count, values);
    }
    if (adapter && adapter->strength != 0) add_adapter(*this, i, begin, {values, size_t(count)});
    if (scale != 1) Eigen::Map<Eigen::ArrayXf>(values, count) *= scale;
}

void Linear::read_stored(int64_t i, int64_t begin, int64_t count, float* values) const {
    HEADLIGHT_DCHECK(i >= 0 && i < (layout == WeightLayout::out_in ? out : in) && begin >= 0 &&
                     begin + count <= (layout == WeightLayout::out_in ? in : out));
    dtype->decode(row(i) + dtype->size(begin), count, values);
}

void apply_linear(ThreadPool& pool, ConstMatrixRef x, const Linear& w, MatrixRef y) {
    const LinearProduct product{w, y};
    apply_linears(pool, x, {&product, 1});
}

namespace {

/// Returns the inputs in the order of the columns of w.
Matrix in_order(ConstMatrixRef x, const Linear& w) {
    Matrix out(x.rows(), x.cols());
    for (Index row = 0; row < x.rows(); ++row)
        for (Index c = 0; c < x.cols(); ++c) out(row, c) = x(row, w.order[c]);
    return out;
}

}  // namespace

void apply_linears(ThreadPool& pool, ConstMatrixRef x, std::span<const LinearProduct> products) {
    if (x.rows() == 0) return;
    std::vector<Tasks> all;
    std::vector<Matrix> ordered(products.size());
    for (const auto& [w, y] : products) {
        check_shapes(x, w, y);
        if (w.order) ordered[all.size()] = in_order(x, w);
        all.push_back(tasks_of(w, x.rows(), pool.threads(), all.empty() ? 0 : all.back().end));
    }
    pool.run(all.back().end, [&](int i) {
        size_t p = 0;
        while (i >= all[p].end) ++p;
        const Tasks& t = all[p];
        const Linear& w = products[p].w;
        const int64_t task = i - t.begin;
        const int64_t row = task % t.row_blocks * t.rows;
        const int64_t rows = std::min<int64_t>(t.rows, x.rows() - row);
        const int64_t begin = task / t.row_blocks * t.outputs;
        const int64_t end = std::min(w.out, begin + t.outputs);
        const ConstMatrixRef inputs = w.order ? ConstMatrixRef(ordered[p]) : x;
        multiply_outputs(pool.cancel_flag(), inputs.middleRows(row, rows), w, t.packed,
                         MatrixRef(products[p].y).middleRows(row, rows), begin, end);
        if (w.scale != 1) MatrixRef(products[p].y).block(row, begin, rows, end - begin) *= w.scale;
    });
    for (const auto& [w, y] : products)
        if (w.adapter && w.adapter->strength != 0) apply_adapter(pool, x, w, y);
}

namespace {

/// x = y Wᵀ for encoded weights [out, in]: decodes some rows at a time.
void multiply_decoded(ThreadPool& pool, ConstMatrixRef y, const Linear& w, MatrixRef x) {
    constexpr int64_t kEntries = 1 << 22;  // 16 MB
    const int64_t together = std::clamp<int64_t>(kEntries / w.in, 1, w.out);
    Matrix rows = spare_matrix(together, w.in),
           part = spare_matrix(together < w.out ? x.rows() : 0, x.cols());
    for (int64_t first = 0; first < w.out; first += together) {
        const int64_t count = std::min(together, w.out - first);
        pool.run(narrow<int>(count),
                 [&](int i) { w.read(first + i, 0, w.in, rows.data() + int64_t{i} * w.in); });
        apply_linear(pool, y.middleCols(first, count),
                     Linear::of_floats(rows.data(), nullptr, count, w.in, WeightLayout::in_out),
                     first ? MatrixRef(part) : x);
        if (first) x += part;
    }
    leave_spare(std::move(rows));
    leave_spare(std::move(part));
}

}  // namespace

void apply_transposed(ThreadPool& pool, ConstMatrixRef y, const Linear& w, MatrixRef x) {
    HEADLIGHT_CHECK(w.weight && y.cols() == w.out && x.rows() == y.rows() && x.cols() == w.in);
    if (w.adapter && w.adapter->factors) {  // what comes through W is multiplied too
        Linear without = w;
        LowRank plain = *w.adapter;
        plain.factors = nullptr;
        without.adapter = &plain;
        Matrix by = y;
        for (int64_t o = 0; o < w.out; ++o) by.col(o) *= w.adapter->factors[w.adapter->output(w, o)];
        return apply_transposed(pool, by, without, x);
    }
    Linear transposed = w;  // the same bytes, read as the transpose
    transposed.bias = nullptr;
    transposed.packed = nullptr;
    transposed.adapter = nullptr;
    if (is_encoded(w)) {
        multiply_decoded(pool, y, transposed, x);
    } else {
        std::swap(transposed.in, transposed.out);
        transposed.layout = w.layout == WeightLayout::in_out ? WeightLayout::out_in : WeightLayout::in_out;
        apply_linear(pool, y, transposed, x);
    }
    if (w.adapter && w.adapter->strength != 0) apply_adapter_transposed(pool, y, w, x);
}

}  // namespace headlight
