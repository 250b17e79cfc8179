// Gives access to the files of assets/ and shaders/ that the build embeds in the program.
#pragma once

#include <string_view>

namespace headlight {

/// Returns the bytes of an embedded file, such as "assets/colormaps.json"; empty: none of that name.
std::string_view embedded_file(std::string_view name);

}  // namespace headlight
