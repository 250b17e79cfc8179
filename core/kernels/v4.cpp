// For x86-64 processors with AVX-512, compiled with -march=x86-64-v4.
#include "kernels/dots.h"
#include "kernels/encoded.h"
#include "kernels/products.h"
#include "kernels/rows.h"
#include "kernels/statistics.h"

namespace headlight {

extern const Kernels kV4Kernels;
const Kernels kV4Kernels = {
    "v4",   multiply,  dot,  kWeightFormats, kWeightFormatCount, transpose, softmax,  norm,
    rotate, gelu_tanh, silu, quick_gelu,     soft_cap,           entropy,   distance, raise};

}  // namespace headlight
