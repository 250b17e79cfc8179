// Writes animated PNG (https://www.w3.org/TR/png-3/#apng-frame-based-animation).
#pragma once

#include <filesystem>
#include <functional>

#include "io/png.h"

namespace headlight {

/// Writes `count` frames of equal size in a loop, each for `delay` milliseconds. Requests frames one by one
/// and keeps none. The file appears whole or not at all; programs without animation show the first frame.
Status write_apng(const std::filesystem::path& path, int count, double delay,
                  const std::function<Result<PngPixels>(int)>& frame);

}  // namespace headlight
