// For any processor that the program is built for.
#include "kernels/dots.h"
#include "kernels/encoded.h"
#include "kernels/products.h"
#include "kernels/rows.h"
#include "kernels/statistics.h"

namespace headlight {

extern const Kernels kBaseKernels;
const Kernels kBaseKernels = {
    "base", multiply,  dot,  kWeightFormats, kWeightFormatCount, transpose, softmax,  norm,
    rotate, gelu_tanh, silu, quick_gelu,     soft_cap,           entropy,   distance, raise};

}  // namespace headlight
