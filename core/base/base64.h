// Spells bytes in base64 (RFC 4648), with padding.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

std::string to_base64(std::string_view bytes);

}  // namespace headlight
