// Implements UTF-8 on top of utf8proc.
#include "base/utf8.h"

#include <utf8proc.h>

#include "base/cast.h"
#include "base/check.h"

namespace headlight {

CodePoint decode_utf8(std::string_view text, size_t at) {
    HEADLIGHT_DCHECK(at < text.size());
    utf8proc_int32_t value = -1;
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at;
    const auto length = utf8proc_iterate(bytes, text.size() - at, &value);
    if (length <= 0) return {0xFFFD, 1};
    return {static_cast<char32_t>(value), narrow<int>(length)};
}

void append_utf8(std::string& out, char32_t value) {
    utf8proc_uint8_t bytes[4];
    const auto length = utf8proc_encode_char(value, bytes);
    out.append(reinterpret_cast<char*>(bytes), length);
}

bool is_valid_utf8(std::string_view text) {
    utf8proc_int32_t value;
    for (size_t at = 0; at < text.size();) {
        const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at;
        const auto length = utf8proc_iterate(bytes, text.size() - at, &value);
        if (length <= 0) return false;
        at += length;
    }
    return true;
}

std::string valid_utf8(std::string_view text) {
    if (is_valid_utf8(text)) return std::string(text);
    std::string out;
    for (size_t at = 0; at < text.size();) {
        const CodePoint c = decode_utf8(text, at);
        append_utf8(out, c.value);
        at += c.length;
    }
    return out;
}

size_t count_code_points(std::string_view text) {
    size_t count = 0;
    for (size_t at = 0; at < text.size(); ++count) at += decode_utf8(text, at).length;
    return count;
}

std::vector<size_t> code_point_starts(std::string_view text) {
    std::vector<size_t> out;
    for (size_t at = 0; at < text.size();) {
        out.push_back(at);
        at += static_cast<size_t>(decode_utf8(text, at).length);
    }
    out.push_back(text.size());
    return out;
}

bool is_white_space(char32_t c) {
    return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
           c == 0x3000;
}

std::string lower_case(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

std::string shorten_middle(std::string_view text, size_t limit) {
    std::vector<size_t> starts;
    for (size_t at = 0; at < text.size(); at += decode_utf8(text, at).length) starts.push_back(at);
    if (starts.size() <= limit || limit < 3) return std::string(text);
    const size_t head = limit / 2, tail = limit - head - 1;
    return std::string(text.substr(0, starts[head])) + "…" +
           std::string(text.substr(starts[starts.size() - tail]));
}

}  // namespace headlight
