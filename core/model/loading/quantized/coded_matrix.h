// Lays quantized matrices out for the kernels: each block of a row has its scale, then its codes, so that a
// product reads one stream of about the bytes that the file holds.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/threads.h"
#include "io/dtype.h"

namespace headlight {

/// Says what a code stands for: an integer less a zero, a float, or a level of a table.
enum class Coding { int4, int8, e4m3, e5m2, nf4, fp4, mxfp4, nvfp4 };

/// w = scale · (code − zero); mxfp4: `zero` is the stored exponent instead. The codes of mxfp4 and nvfp4 are
/// E2M1.
struct CodeScale {
    float scale = 1;
    int zero = 0;
};

/// Describes a matrix whose codes lie elsewhere.
struct CodedMatrix {
    Coding coding = Coding::int8;
    int64_t rows = 0, columns = 0;
    int64_t group = 0;  // columns that share a scale, the last group may be shorter
    /// Writes the codes of some rows, a byte each; called from several threads.
    std::function<void(int64_t first, int64_t count, uint8_t* codes)> codes;
    std::function<CodeScale(int64_t row, int64_t group)> scale;
};

/// Returns the format of the kernels for such a matrix; null: its rows or groups are no multiples of 32.
const DType* layout_of(const CodedMatrix& matrix);

/// Writes all rows in that format, in tiles of the pool.
std::unique_ptr<std::byte[]> laid_out(const CodedMatrix& matrix, const DType& type, ThreadPool& pool);

}  // namespace headlight
