// For any processor that the program is built for.
#include "kernels/table.h"

namespace headlight {

extern const Kernels kBaseKernels;
const Kernels kBaseKernels = all_kernels("base");

}  // namespace headlight
