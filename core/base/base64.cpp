#include "base/base64.h"

#include <algorithm>
#include <cstdint>

#include "base/cast.h"

namespace headlight {

std::string to_base64(std::string_view bytes) {
    constexpr const char* letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (size_t at = 0; at < bytes.size(); at += 3) {
        const size_t left = std::min<size_t>(3, bytes.size() - at);
        uint32_t bits = 0;
        for (size_t i = 0; i < 3; ++i) bits = bits << 8 | (i < left ? as_byte(bytes[at + i]) : 0);
        for (size_t i = 0; i < 4; ++i) out += i <= left ? letters[bits >> (18 - 6 * i) & 63] : '=';
    }
    return out;
}

}  // namespace headlight
