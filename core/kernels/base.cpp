// Compiles the kernels for any processor that the program supports.
#include "kernels/table.h"

namespace headlight {

extern const Kernels kBaseKernels;
const Kernels kBaseKernels = all_kernels("base");

}  // namespace headlight
