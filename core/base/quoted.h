// Makes text from files or users fit for messages and terminals.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headlight {

/// Returns the symbol of a control character: ␛ for escape, ␡ for delete, ␦ for U+0080 … U+009F.
char32_t control_picture(char32_t c);

/// Replaces control characters except line breaks and tabs by symbols, so that a terminal does not obey.
std::string printable(std::string_view text);

/// Keeps at most `max` characters, from both ends; replaces bytes that are not UTF-8 by U+FFFD.
std::string shortened(std::string_view text, size_t max = 90);

/// Shortens and quotes. Messages pass input through one of these, to repeat at most 200 characters.
std::string in_quotes(std::string_view text);

/// "1 token", "12 tokens".
std::string counted_tokens(int64_t count);

/// Formats a number with `digits` decimals and U+2212 for minus.
std::string decimals(double value, int digits);

/// Treat smaller weights, shares and distances as 0: they are float32 rounding noise.
inline constexpr double kNoise = 5e-7;

/// Formats likewise, but "2.3e−5" if all decimals would be 0, and "0" below kNoise.
std::string fine_decimals(double value, int digits);

/// Formats a share: "80.4 %", "< 0.1 %".
std::string percent(double share);

}  // namespace headlight
