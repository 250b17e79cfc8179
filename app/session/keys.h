// Which key a person means: letters and digits as their layout names them, not as a US keyboard places them.
#pragma once

#include <string_view>

namespace headlight {

/// The key that was meant, as GLFW numbers them (letters and digits by their ASCII capitals). `place` is the
/// key at that place of a US keyboard, `name` what the layout writes there without Shift, `all` what it
/// writes on all its keys together. A key means the letter or digit that is written on it; where the layout
/// writes that of its place on no key (Cyrillic letters, AZERTY's digits), it means its place; else (Dvorak's
/// ' at the place of Q) nothing: −1.
int meant_key(int place, std::string_view name, std::string_view all);

}  // namespace headlight
