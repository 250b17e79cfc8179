// Shortens and quotes untrusted text, and formats numbers.
#include "base/quoted.h"

#include <cmath>
#include <cstdio>

#include "base/utf8.h"

namespace headlight {

char32_t control_picture(char32_t c) {
    if (c < 0x20) return 0x2400 + c;
    if (c == 0x7F) return 0x2421;
    const bool turns = (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
    return turns || (c >= 0x80 && c < 0xA0) ? 0x2426 : c;
}

std::string printable(std::string_view text) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
        const CodePoint c = decode_utf8(text, at);
        at += c.length;
        append_utf8(out, c.value == '\n' || c.value == '\t' ? c.value : control_picture(c.value));
    }
    return out;
}

std::string shortened(std::string_view text, size_t max) {
    const size_t enough = 4 * max;  // bytes at each end that contain at least `max` characters
    if (text.size() <= 2 * enough) return shorten_middle(valid_utf8(text), max);
    return shorten_middle(
        valid_utf8(std::string(text.substr(0, enough)) + std::string(text.substr(text.size() - enough))),
        max);
}

std::string in_quotes(std::string_view text) { return "\"" + shortened(text) + "\""; }

std::string counted_tokens(int64_t count) {
    return std::to_string(count) + (count == 1 ? " token" : " tokens");
}

std::string decimals(double value, int digits) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    std::string out(text);
    if (out[0] == '-' && out.find_first_not_of("-0.") == std::string::npos)
        out.erase(0, 1);  // −0 after rounding is 0
    if (out[0] == '-') out.replace(0, 1, "−");
    return out;
}

std::string fine_decimals(double value, int digits) {
    const double size = std::abs(value);
    if (size < kNoise) return "0";
    if (!(size < 0.5 * std::pow(10.0, -digits))) return decimals(value, digits);
    int exponent = int(std::floor(std::log10(size)));
    if (size * std::pow(10.0, -exponent) >= 9.95) ++exponent;  // one decimal would give 10.0
    return decimals(value * std::pow(10.0, -exponent), 1) + "e−" + std::to_string(-exponent);
}

std::string percent(double share) {
    return share > 0 && share < 0.001 ? "< 0.1 %" : decimals(100 * share, 1) + " %";
}

}  // namespace headlight
