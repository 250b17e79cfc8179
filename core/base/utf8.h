// UTF-8: decoding that never fails, and the questions asked of text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headlight {

/// One code point and where its bytes stand. A byte that belongs to no valid sequence decodes as U+FFFD of
/// length 1.
struct CodePoint {
    char32_t value;
    int length;
};

/// The code point at text[at]; `at` must lie inside the text.
CodePoint decode_utf8(std::string_view text, size_t at);

/// Appends the UTF-8 bytes of a code point.
void append_utf8(std::string& out, char32_t value);

bool is_valid_utf8(std::string_view text);

/// The text with each invalid byte replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

/// Number of code points.
size_t count_code_points(std::string_view text);

/// Unicode's White_Space property.
bool is_white_space(char32_t value);

/// ASCII letters in lower case, others as they are.
std::string lower_case(std::string text);

/// At most `limit` code points; longer text keeps both ends with "…" in the middle.
std::string shorten_middle(std::string_view text, size_t limit);

}  // namespace headlight
