// Files of assets/ and shaders/ that the build puts into the program.
#pragma once

#include <string_view>

namespace headlight {

/// The bytes of an embedded file, "assets/colormaps.json" for example; empty where there is none of that
/// name.
std::string_view embedded_file(std::string_view name);

}  // namespace headlight
