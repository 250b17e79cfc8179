// Compresses what a page holds.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

/// Compresses bytes as a browser's DecompressionStream("deflate-raw") reads them.
std::string deflated(std::string_view bytes);

}  // namespace headlight
