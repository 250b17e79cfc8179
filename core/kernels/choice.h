// Chooses which compilation of the kernels this process uses.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/kernels.h"

namespace headlight {

/// Returns those that this processor can run, the most portable first.
std::vector<const Kernels*> usable_kernels();

/// Returns the one with this name (base, or its other name v1; v3, v4), or why it cannot be used.
Result<const Kernels*> find_kernels(std::string_view name);

/// Returns the kernels in use: those that HEADLIGHT_KERNELS names, else the best that this processor can run.
const Kernels& kernels();

/// Fails if HEADLIGHT_KERNELS names kernels that this processor cannot run; called once, at startup.
Status check_kernels();

}  // namespace headlight
