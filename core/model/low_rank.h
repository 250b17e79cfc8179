// Holds what an adapter adds to a matrix (LoRA: Hu et al. 2021; DoRA: Liu et al. 2024), beside it.
#pragma once

#include "model/linear.h"

namespace headlight {

/// Adds a product of two narrow matrices to a matrix W: y += strength · B (A x) (LoRA, Hu et al. 2021).
/// Whoever reads some outputs of W reads the same ones of B.
struct LowRank {
    const std::byte* base = nullptr;  // W's first output,
    int64_t stride = 0;               // and bytes from one output to the next
    int64_t in = 0, out = 0, rank = 0;
    const float *a = nullptr, *b = nullptr;  // [rank, in], [out, rank]
    float strength = 1;                      // α / rank included
    const float* magnitudes =
        nullptr;  // [out], lengths that the sum is given (DoRA, Liu et al. 2024); null: its own
    const float* factors = nullptr;  // [out], which give it these: (W + strength · B A) x times this; null: 1

    /// A as it reads x, and the rows of B for the outputs that `w` has, in their order.
    Linear reader() const;
    Linear writer(const Linear& w) const;
    /// Returns whether `w` is W, or some of its outputs.
    bool adds_to(const Linear& w) const;
    /// Returns the number in W of output i of `w`.
    int64_t output(const Linear& w, int64_t i) const;
};

/// Adds what w's adapter adds to values [begin, …) of a stored row of w: of an output, or of an input.
void add_adapter(const Linear& w, int64_t i, int64_t begin, std::span<float> values);

/// y ← f ∘ (y + strength · B (A x)); y holds W x + b, of which b is left as it is.
void apply_adapter(ThreadPool& pool, ConstMatrixRef x, const Linear& w, MatrixRef y);

/// x += what the adapter adds to y Wᵀ; y is multiplied by f already.
void apply_adapter_transposed(ThreadPool& pool, ConstMatrixRef y, const Linear& w, MatrixRef x);

}  // namespace headlight
