// Gives access to the files of assets/ and shaders/ that the build embeds in the program.
#pragma once

#include <string_view>
#include <vector>

namespace headlight {

/// Returns the bytes of an embedded file, such as "assets/colormaps.json"; empty: none of that name.
std::string_view embedded_file(std::string_view name);

/// Returns the names that begin and end so, in ascending order.
std::vector<std::string_view> embedded_files(std::string_view begin, std::string_view end);

}  // namespace headlight
