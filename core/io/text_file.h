// Checks and converts the bytes of text files.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace headlight {

/// Fails if bytes are not UTF-8, and says where, or if a zero byte shows another kind of file or UTF-16;
/// `what` begins the sentence.
Status check_is_text(std::string_view bytes, const std::string& what);

/// Returns at most `max` bytes without splitting a character.
std::string_view beginning_of_text(std::string_view bytes, size_t max);

/// Returns a file's bytes as text, without a byte order mark.
Result<std::string_view> text_of_file(std::string_view bytes, const std::string& name);

}  // namespace headlight
