// y = x W + b for weights as they lie in a file, or laid out once for the kernels.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/matrix.h"
#include "base/threads.h"
#include "io/dtype.h"

namespace headlight {

/// in_out: row i holds what input i gives to every output (GPT-2's Conv1D). out_in: row o holds what output o
/// takes (nn.Linear).
enum class WeightLayout { in_out, out_in };

/// A weight matrix, or some of its outputs, with its bias. Embedding tables are the same thing: row i is
/// stored row i.
struct Linear {
    const std::byte* weight = nullptr;
    const float* bias = nullptr;  // [out], or null
    int64_t in = 0, out = 0;
    int64_t stride = 0;  // bytes from one stored row to the next
    WeightLayout layout = WeightLayout::out_in;
    const DType* dtype = &float32();      // in_out: one of single values
    int64_t group = 0, group_stride = 0;  // out_in: rows come in groups this far (bytes) apart, as in
                                          // matrices that mix q, k and v; 0: they do not
    /// Where all of them lie laid out once, [panel][in][kPanel] of dtype (model/loading/packed.h); null:
    /// nowhere, or not yet.
    const std::atomic<const std::byte*>* packed = nullptr;
    /// Float32 weights in memory, [out, in] or [in, out] one after another.
    static Linear of_floats(const float* weight, const float* bias, int64_t in, int64_t out,
                            WeightLayout layout);

    explicit operator bool() const { return weight != nullptr; }
    /// Outputs [first, first + count) alone; there must be so many, in one group where there are groups.
    Linear columns(int64_t first, int64_t count) const;
    /// Copies stored values [begin, begin + count) of a stored row, decoded; both must be whole blocks of the
    /// format.
    void read(int64_t row, int64_t begin, int64_t count, float* values) const;
    /// Where a stored row begins.
    const std::byte* row(int64_t i) const {
        return weight + (group ? i / group * group_stride + i % group * stride : i * stride);
    }
    /// The same for an F32 matrix.
    const float* floats(int64_t i) const { return reinterpret_cast<const float*>(row(i)); }
};

/// y[n, out] = x[n, in] · W + b, by the kernels of core/kernels. Weights of single values become panels of
/// outputs, unless they were packed; up to three rows of x meet weights stored [out, in] in registers, more
/// rows some decoded blocks at a time. Each entry is added up in one order, up the inputs or in the lanes of
/// the blocks' dot products, whatever the layout, the number of rows and of threads and whether W was packed:
/// rows that are computed together or one by one are the same bits.
void apply_linear(ThreadPool& pool, ConstMatrixRef x, const Linear& w, MatrixRef y);

/// One of several products of the same rows.
struct LinearProduct {
    const Linear& w;
    MatrixRef y;  // [n, w.out]
};
/// The same of several weights that meet the same rows x, in one job of the pool.
void apply_linears(ThreadPool& pool, ConstMatrixRef x, std::span<const LinearProduct> products);

/// x[n, in] = y[n, out] · Wᵀ, without the bias: from the gradient by what apply_linear gives to the one by
/// what it took. Weights are read as they lie.
void apply_transposed(ThreadPool& pool, ConstMatrixRef y, const Linear& w, MatrixRef x);

}  // namespace headlight
