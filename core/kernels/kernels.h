// Declares the dense numerical kernels, on raw pointers. The same source is compiled once per instruction set
// (base.cpp, v3.cpp, v4.cpp) and chosen at startup (choice.h). Neither this file nor those that the
// compilations include may define anything shared with other files: the linker keeps one copy of an inline
// function, which may be the one that an older processor cannot run.
#pragma once

#include <cstdint>

namespace headlight {

/// Fixes the number of outputs of a panel of weights, the same on every processor.
constexpr int kPanel = 48;
/// Fixes the lanes of a sum over a row, whatever the width of vectors: entry i belongs to lane i % 16.
constexpr int kSumLanes = 16;

/// y[rows, width] (+)= x[rows, depth] · w[depth, width], added to y, or begun from the bias. Sums each entry
/// in ascending k, so that it depends neither on other rows nor on where a product is cut.
struct Product {
    const float* x;
    int64_t x_stride, rows;
    const float* w;  // readable up to `width` rounded up to 16
    int64_t w_stride, depth, width;
    float* y;
    int64_t y_stride;
    bool begin;         // whether to begin y
    const float* bias;  // [width], to begin y with; null: zeros
    /// Address and size of the weights needed next, prefetched evenly while the tiles compute; 0: none. May
    /// lie beyond the weights: it is never read.
    uintptr_t ahead = 0;
    int64_t ahead_bytes = 0;
};

/// y[rows, count] (+)= x[rows, depth] · wᵀ with w[count][depth]. Sums each entry in kSumLanes sums side by
/// side, then adds those: one order whatever the other rows are and however the weights are stored.
struct Dots {
    const float* x;
    int64_t x_stride, rows;
    const uint8_t* const* w;  // start of each row, in its stored format
    int64_t count, depth;     // whole blocks of the format
    float* y;
    int64_t y_stride;
    bool begin;
    const float* bias;
    int64_t ahead = 0;  // bytes between a row of weights and the data to prefetch; 0: none
};

/// Describes a format of stored weights, a row of encoded.h.
struct WeightFormat {
    const char* name;   // as in GGUF
    int values, bytes;  // of a block
    /// Decodes `count` values, whole blocks of the format.
    void (*decode)(const uint8_t* blocks, int64_t count, float* values);
    /// Multiplies while decoding each weight in registers: for a few rows of x. Same bits as `Kernels::dot`
    /// on the decoded rows; for single values (F32, F16, BF16) as `multiply` with their panel.
    void (*dot)(const Dots& dots);
};

/// Lists the kernels of one compilation. Strides count floats.
struct Kernels {
    const char* name;                          // base, v3, v4
    void (*multiply)(const Product& product);  // width ≤ kPanel
    void (*dot)(const Dots& dots);             // w: F32
    void (*multiply_few)(const Dots& dots);    // w: F32; same bits as `multiply` with the panel of w
    const WeightFormat* formats;               // all formats, in the same order in every compilation
    int format_count;
    /// panel[depth][kPanel] = the transpose of `count` ≤ kPanel rows of `depth` floats; zeros elsewhere.
    void (*transpose)(const float* const* rows, int64_t count, int64_t depth, float* panel);
    /// exp(x − max x) / Σ exp(x − max x); −infinity becomes exactly 0. Sixteen leading ones change nothing.
    void (*softmax)(float* row, int64_t count);
    /// y = (x − mean) / √(variance + eps) · weight + bias; the mean is 0 unless `center`. bias may be null.
    void (*norm)(const float* x, int64_t count, const float* weight, const float* bias, float eps,
                 bool center, float* y);
    /// Rotates pairs (x[i · step], x[i · step + apart]), each by its angle.
    void (*rotate)(float* x, int64_t pairs, int64_t step, int64_t apart, const float* cosine,
                   const float* sine);
    void (*gelu)(float* x, int64_t count);  // x · Φ(x), within 2e-7 · max(1, |x|)
    void (*gelu_tanh)(float* x, int64_t count);
    void (*relu)(float* x, int64_t count);
    void (*silu)(float* x, int64_t count);
    void (*quick_gelu)(float* x, int64_t count);
    /// x = cap · tanh(x / cap).
    void (*soft_cap)(float* x, int64_t count, float cap);
    /// −Σ w log₂ w of weights that sum to 1, in bits; 0 log₂ 0 = 0.
    float (*entropy)(const float* weights, int64_t count);
    /// Σ w · |first + i|; first may be negative.
    float (*distance)(const float* weights, int64_t count, int64_t first);
    /// largest = max(largest, x), elementwise.
    void (*keep_larger)(float* largest, const float* x, int64_t count);
};

}  // namespace headlight
