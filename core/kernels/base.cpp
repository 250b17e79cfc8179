// For any processor that the program is built for.
#include "kernels/dots.h"
#include "kernels/encoded.h"
#include "kernels/products.h"
#include "kernels/rows.h"

namespace headlight {

extern const Kernels kBaseKernels;
const Kernels kBaseKernels = {"base",    multiply, dot,  kWeightFormats, kWeightFormatCount,
                              transpose, softmax,  norm, rotate,         gelu,
                              gelu_tanh, relu,     silu, quick_gelu,     soft_cap};

}  // namespace headlight
