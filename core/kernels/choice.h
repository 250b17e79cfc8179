// Which compilation of the kernels this process uses.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/kernels.h"

namespace headlight {

/// Those that this processor can run, from the plainest on.
std::vector<const Kernels*> usable_kernels();

/// The one of a name (base or its other name v1, v3, v4), or a sentence why not.
Result<const Kernels*> find_kernels(std::string_view name);

/// The set in force: what HEADLIGHT_KERNELS names, else the best that this processor can run.
const Kernels& kernels();

/// Fails where HEADLIGHT_KERNELS names none that this processor can run; asked once, when the program starts.
Status check_kernels();

}  // namespace headlight
