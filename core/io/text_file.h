// Checks and converts the bytes of text files.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace headlight {

/// Fails, and says where, if bytes are not UTF-8, or zero (UTF-16, other files); `what` begins the sentence.
Status check_is_text(std::string_view bytes, const std::string& what);

/// Returns at most `max` bytes without splitting a character.
std::string_view beginning_of_text(std::string_view bytes, size_t max);

/// Returns a file's bytes as text, without a byte order mark.
Result<std::string_view> text_of_file(std::string_view bytes, const std::string& name);

}  // namespace headlight
