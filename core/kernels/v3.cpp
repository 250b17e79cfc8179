// For x86-64 processors with AVX2 and FMA, compiled with -march=x86-64-v3.
#include "kernels/dots.h"
#include "kernels/encoded.h"
#include "kernels/products.h"
#include "kernels/rows.h"
#include "kernels/statistics.h"

namespace headlight {

extern const Kernels kV3Kernels;
const Kernels kV3Kernels = {
    "v3",   multiply,  dot,  kWeightFormats, kWeightFormatCount, transpose, softmax,  norm,
    rotate, gelu_tanh, silu, quick_gelu,     soft_cap,           entropy,   distance, raise};

}  // namespace headlight
