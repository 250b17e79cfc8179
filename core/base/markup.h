// Puts text into HTML and SVG.
#pragma once

#include <string>

namespace headlight {

/// Escapes text for a page or an attribute.
std::string escaped(const std::string& text);

}  // namespace headlight
