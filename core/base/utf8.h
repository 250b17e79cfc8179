// Decodes UTF-8 without ever failing, and classifies characters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headlight {

/// Holds one code point and the place of its bytes. An invalid byte decodes as U+FFFD of length 1.
struct CodePoint {
    char32_t value;
    int length;
};

/// Decodes the code point at text[at]; `at` must lie inside the text.
CodePoint decode_utf8(std::string_view text, size_t at);

void append_utf8(std::string& out, char32_t value);

bool is_valid_utf8(std::string_view text);

/// Replaces each invalid byte by U+FFFD.
std::string valid_utf8(std::string_view text);

size_t count_code_points(std::string_view text);

/// Returns the byte at which each code point begins, and the end.
std::vector<size_t> code_point_starts(std::string_view text);

/// Tests Unicode's White_Space property.
bool is_white_space(char32_t value);

/// Lower-cases ASCII letters and keeps all others.
std::string lower_case(std::string text);

/// Keeps at most `limit` code points; replaces the middle of longer text by "…".
std::string shorten_middle(std::string_view text, size_t limit);

}  // namespace headlight
