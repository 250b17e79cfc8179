// Compiles the kernels for x86-64 processors with AVX2 and FMA (-march=x86-64-v3).
#include "kernels/table.h"

namespace headlight {

extern const Kernels kV3Kernels;
const Kernels kV3Kernels = all_kernels("v3");

}  // namespace headlight
