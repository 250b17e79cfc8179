// Compiles the kernels for x86-64 processors with AVX-512 (-march=x86-64-v4).
#include "kernels/table.h"

namespace headlight {

extern const Kernels kV4Kernels;
const Kernels kV4Kernels = all_kernels("v4");

}  // namespace headlight
