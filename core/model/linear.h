// y = x W + b for weights as they lie in a file.
#pragma once

#include <cstdint>

#include "base/matrix.h"
#include "base/threads.h"

namespace headlight {

/// in_out: row i holds what input i gives to every output (GPT-2's Conv1D). out_in: row o holds what output o takes (nn.Linear).
enum class WeightLayout { in_out, out_in };

/// A weight matrix, or some of its outputs, with its bias.
struct Linear {
    const float* weight = nullptr;
    const float* bias = nullptr;  // [out], or null
    int64_t in = 0, out = 0;
    int64_t stride = 0;           // floats from one stored row to the next
    WeightLayout layout = WeightLayout::in_out;

    /// Outputs [first, first + count) alone.
    Linear columns(int64_t first, int64_t count) const;
};

/// y[n, out] = x[n, in] · W + b.
/// Goto and van de Geijn 2008: panels of the weight are packed once into the second-level cache and met by register tiles of x.
void apply_linear(ThreadPool& pool, ConstMatrixRef x, const Linear& w, MatrixRef y);

}  // namespace headlight
