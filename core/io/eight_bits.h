// Stores the weights of a safetensors file in eight bits, for a page that computes.
#pragma once

#include <span>
#include <string>

#include "base/result.h"

namespace headlight {

/// Returns a safetensors file in which each matrix of floats is an I8 tensor of codes from −127 to 127, with
/// an F32 tensor NAME:scale beside it, one for each 64 codes in a row; other tensors stay as they are. w =
/// scale · code. `name` begins errors.
Result<std::string> in_eight_bits(std::span<const std::byte> file, const std::string& name);

/// Returns the file with F32 matrices again; any other safetensors file as it is.
Result<std::string> from_eight_bits(std::string file, const std::string& name);

}  // namespace headlight
