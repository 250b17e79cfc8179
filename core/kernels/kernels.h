// What computes densely, on raw pointers. The same source is compiled once for each instruction set
// (base.cpp, v3.cpp, v4.cpp) and chosen when the program starts (choice.h). Nothing that another file could
// share stands here or in what those files include: of an inline function the linker keeps one copy for all,
// which may be the one that an older processor cannot run.
#pragma once

#include <cstdint>

namespace headlight {

/// Outputs of one panel of weights; the same on every processor.
constexpr int kPanel = 48;
/// Sums over a row run in so many lanes, whatever the processor's vectors hold: entry i belongs to lane
/// i % 16.
constexpr int kSumLanes = 16;

/// y[rows, width] = x[rows, depth] · w[depth, width], added to what y holds, or begun from the bias. Each
/// entry is one sum that goes up k, so it depends neither on the other rows nor on where a product is cut.
struct Product {
    const float* x;
    int64_t x_stride, rows;
    const float* w;  // readable up to `width` rounded up to 16
    int64_t w_stride, depth, width;
    float* y;
    int64_t y_stride;
    bool begin;         // whether y is begun
    const float* bias;  // [width] of a y that is begun, or null: zeros
    /// Where the weights lie that are needed next, and how many bytes of them: they are fetched evenly while
    /// the tiles compute. 0: nothing is. Only an address: it may be beyond the weights.
    uintptr_t ahead = 0;
    int64_t ahead_bytes = 0;
};

/// y[rows, count] = x[rows, depth] · the transpose of w[count][depth], added to y or begun as above. Each
/// entry is kSumLanes sums side by side, then their sum: one order whatever the other rows are and however
/// the weights are stored.
struct Dots {
    const float* x;
    int64_t x_stride, rows;
    const uint8_t* const* w;  // where each row begins, as it is stored
    int64_t count, depth;     // whole blocks of the format
    float* y;
    int64_t y_stride;
    bool begin;
    const float* bias;
    int64_t ahead = 0;  // bytes from a row of weights to what is fetched meanwhile; 0: nothing
};

/// A format of stored weights, as encoded.h lists them.
struct WeightFormat {
    const char* name;   // as GGUF spells it
    int values, bytes;  // of a block
    /// Decodes so many values, whole blocks of the format.
    void (*decode)(const uint8_t* blocks, int64_t count, float* values);
    /// Dot products that decode each weight in registers: for a few rows of x. The bits are those of
    /// `Kernels::dot` with the decoded rows; of single values (F32, F16, BF16) those of `multiply` with their
    /// panel.
    void (*dot)(const Dots& dots);
};

/// One compilation of the kernels. Strides are in floats.
struct Kernels {
    const char* name;                          // base, v3, v4
    void (*multiply)(const Product& product);  // width ≤ kPanel
    void (*dot)(const Dots& dots);             // w: F32
    void (*multiply_few)(const Dots& dots);    // w: F32; the bits of `multiply` with the panel of w
    const WeightFormat* formats;               // all formats, in one order in every set
    int format_count;
    /// panel[depth][kPanel] = the transpose of `count` ≤ kPanel rows of `depth` floats; zeros beyond.
    void (*transpose)(const float* const* rows, int64_t count, int64_t depth, float* panel);
    /// exp(x − max x), divided by their sum; −infinity becomes exactly 0. Entries in front of the row that
    /// are −infinity, in sixteens, change nothing.
    void (*softmax)(float* row, int64_t count);
    /// y = (x − mean) / sqrt(variance + eps) · weight + bias; without `center` the mean counts as 0. bias may
    /// be null.
    void (*norm)(const float* x, int64_t count, const float* weight, const float* bias, float eps,
                 bool center, float* y);
    /// Pairs (x[i · step], x[i · step + apart]) turned by an angle each.
    void (*rotate)(float* x, int64_t pairs, int64_t step, int64_t apart, const float* cosine,
                   const float* sine);
    void (*gelu)(float* x, int64_t count);  // x · Φ(x), within 2e-7 · max(1, |x|)
    void (*gelu_tanh)(float* x, int64_t count);
    void (*relu)(float* x, int64_t count);
    void (*silu)(float* x, int64_t count);
    void (*quick_gelu)(float* x, int64_t count);
    /// x = cap · tanh(x / cap).
    void (*soft_cap)(float* x, int64_t count, float cap);
    /// −Σ w log₂ w of weights that sum to 1, in bits; 0 weighs nothing.
    float (*entropy)(const float* weights, int64_t count);
    /// Σ w · |first + i|, for a first place of any sign.
    float (*distance)(const float* weights, int64_t count, int64_t first);
    /// largest = max(largest, x), entry by entry.
    void (*keep_larger)(float* largest, const float* x, int64_t count);
};

}  // namespace headlight
