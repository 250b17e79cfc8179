// Exports all kernels of one compilation as a table under its name.
#pragma once

#include "kernels/dots.h"
#include "kernels/encoded.h"
#include "kernels/products.h"
#include "kernels/rows.h"
#include "kernels/statistics.h"

namespace headlight {

static constexpr Kernels all_kernels(const char* name) {
    return {.name = name,
            .multiply = multiply,
            .dot = dot,
            .multiply_few = TransposedDots<f32, 64>::dot,
            .formats = kWeightFormats,
            .format_count = kWeightFormatCount,
            .transpose = transpose,
            .softmax = softmax,
            .norm = norm,
            .rotate = rotate,
            .gelu = gelu,
            .gelu_tanh = gelu_tanh,
            .relu = relu,
            .silu = silu,
            .quick_gelu = quick_gelu,
            .soft_cap = soft_cap,
            .entropy = entropy,
            .distance = distance,
            .keep_larger = keep_larger};
}

}  // namespace headlight
