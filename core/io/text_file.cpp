// Checks that files hold UTF-8 text.
#include "io/text_file.h"

#include <algorithm>
#include <cstdio>

#include "base/cast.h"
#include "base/utf8.h"

namespace headlight {

namespace {

/// Counts the leading bytes that are valid UTF-8.
size_t valid_bytes(std::string_view bytes) {
    size_t at = 0;
    while (at < bytes.size()) {
        const CodePoint c = decode_utf8(bytes, at);
        if (c.value == 0xFFFD && c.length == 1) break;
        at += static_cast<size_t>(c.length);
    }
    return at;
}

/// Returns "line 3, byte 17: 0xE9", the first invalid byte.
std::string place_of(std::string_view bytes, size_t at) {
    char byte[8];
    std::snprintf(byte, sizeof byte, "0x%02X", as_byte(bytes[at]));
    const std::string_view before = bytes.substr(0, at);
    const size_t begin = before.rfind('\n') + 1;  // 0 in the first line
    const auto lines = std::count(before.begin(), before.end(), '\n');
    const bool several = bytes.find('\n') != std::string_view::npos;
    return (several ? "line " + std::to_string(lines + 1) + ", " : "") + "byte " +
           std::to_string(at - begin + 1) + ": " + byte;
}

}  // namespace

Status check_is_text(std::string_view bytes, const std::string& what) {
    if (bytes.find('\0') != std::string_view::npos)
        return Error{what + " holds a zero byte, so it is not text in UTF-8; save it as UTF-8."};
    const size_t at = valid_bytes(bytes);
    if (at == bytes.size()) return success();
    return Error{what + " is not text in UTF-8 (" + place_of(bytes, at) +
                 "); save it as UTF-8, or convert it: iconv -f LATIN1 -t UTF-8."};
}

std::string_view beginning_of_text(std::string_view bytes, size_t max) {
    if (bytes.size() <= max) return bytes;
    while (max > 0 && (as_byte(bytes[max]) & 0xC0) == 0x80) --max;
    return bytes.substr(0, max);
}

Result<std::string_view> text_of_file(std::string_view bytes, const std::string& name) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    TRY_STATUS(check_is_text(bytes, name));
    if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
    return bytes;
}

}  // namespace headlight
