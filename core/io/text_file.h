// What a file of text holds.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace headlight {

/// Fails where bytes are no UTF-8, and says where, or where a zero byte shows that this is another kind of
/// file, or UTF-16; `what` begins the sentence.
Status check_is_text(std::string_view bytes, const std::string& what);

/// At most so many bytes, and no character cut.
std::string_view beginning_of_text(std::string_view bytes, size_t max);

/// A file's bytes as a text, without a byte order mark.
Result<std::string_view> text_of_file(std::string_view bytes, const std::string& name);

}  // namespace headlight
