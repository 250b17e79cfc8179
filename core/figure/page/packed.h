// Packs bytes for a page's data.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

/// Compresses bytes as a browser's DecompressionStream("deflate-raw") reads them, in base64.
std::string packed(std::string_view bytes);

}  // namespace headlight
