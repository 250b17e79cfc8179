// y = x W + b for weights in place in a file, or packed once for the kernels.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/matrix.h"
#include "base/threads.h"
#include "io/dtype.h"

namespace headlight {

/// in_out: row i holds the weights from input i to every output (GPT-2's Conv1D). out_in: row o holds the
/// weights of output o (nn.Linear).
enum class WeightLayout { in_out, out_in };

struct LowRank;  // model/low_rank.h

/// Points to a weight matrix, or some of its outputs, with its bias. Embedding tables: row i is stored row i.
struct Linear {
    const std::byte* weight = nullptr;
    const float* bias = nullptr;  // [out], or null
    int64_t in = 0, out = 0;
    int64_t stride = 0;  // bytes between stored rows
    WeightLayout layout = WeightLayout::out_in;
    const DType* dtype = &float32();  // in_out: must not be block-encoded
    /// out_in: rows come in groups this many bytes apart, as in interleaved q, k and v; 0: no groups
    int64_t group = 0, group_stride = 0;
    float scale = 1;  // y = scale · (x W + b): a multiplier of the residual stream (Granite)
    /// Lists the input that each column multiplies (quantized with act-order); null: they are in order.
    const int32_t* order = nullptr;
    const LowRank* adapter = nullptr;  // what is added to W; null: nothing
    /// Points to a packed copy of the whole matrix, [panel][in][kPanel] of dtype (model/loading/packed.h);
    /// null: none, or not yet.
    const std::atomic<const std::byte*>* packed = nullptr;
    /// Wraps float32 weights in memory, contiguous [out, in] or [in, out].
    static Linear of_floats(const float* weight, const float* bias, int64_t in, int64_t out,
                            WeightLayout layout);

    explicit operator bool() const { return weight != nullptr; }
    /// Returns outputs [first, first + count) alone; they must exist, in one group if there are groups.
    Linear columns(int64_t first, int64_t count) const;
    /// Decodes values [begin, begin + count) of a stored row, both at boundaries of the format's blocks: the
    /// weights of inputs.
    void read(int64_t row, int64_t begin, int64_t count, float* values) const;
    /// Decodes them as stored, without the scale and the adapter, columns in their order.
    void read_stored(int64_t row, int64_t begin, int64_t count, float* values) const;
    /// Returns the address of a stored row.
    const std::byte* row(int64_t i) const {
        return weight + (group ? i / group * group_stride + i % group * stride : i * stride);
    }
    /// Returns it as floats; the matrix must be F32.
    const float* floats(int64_t i) const { return reinterpret_cast<const float*>(row(i)); }
};

/// y[n, out] = x[n, in] · W + b, by the kernels of core/kernels. Copies weights of single values to panels of
/// outputs, unless they are packed; multiplies up to three rows of x by weights [out, in] in registers, more
/// rows by decoded blocks. Sums each entry in one order, ascending inputs or the lanes of the blocks' dot
/// products, whatever the layout, the number of rows and threads, and the packing: rows computed together or
/// one by one are the same bits.
void apply_linear(ThreadPool& pool, ConstMatrixRef x, const Linear& w, MatrixRef y);

/// One of several products of the same rows x.
struct LinearProduct {
    const Linear& w;
    MatrixRef y;  // [n, w.out]
};
/// Multiplies the same rows x by several weights, in one job of the pool.
void apply_linears(ThreadPool& pool, ConstMatrixRef x, std::span<const LinearProduct> products);

/// x[n, in] = y[n, out] · Wᵀ, without the bias: maps the gradient by apply_linear's output to the one by its
/// input. Reads weights in place.
void apply_transposed(ThreadPool& pool, ConstMatrixRef y, const Linear& w, MatrixRef x);

}  // namespace headlight
