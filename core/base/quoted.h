// Text that comes from a file or a person, made fit for a message or a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headlight {

/// What stands for a control character where one is shown: ␛ for escape, ␡ for delete, ␦ for those of U+0080
/// … U+009F; others as they are.
char32_t control_picture(char32_t c);

/// The text with control pictures, line breaks and tabs kept: what a terminal shows and does not obey.
std::string printable(std::string_view text);

/// At most `max` characters of a text, both ends of it; bytes that are not UTF-8 as U+FFFD.
std::string shortened(std::string_view text, size_t max = 90);

/// The same in quotation marks. What a message repeats of its input goes through one of the two, so that it
/// repeats at most 200 characters.
std::string in_quotes(std::string_view text);

/// "1 token", "12 tokens".
std::string counted_tokens(int64_t count);

/// A number with so many decimals and U+2212 for minus.
std::string decimals(double value, int digits);

/// Less than sums in float32 tell from 0 among weights, shares and distances.
inline constexpr double kNoise = 5e-7;

/// The same; "2.3e−5" where so many decimals would all be 0, and "0" for what is less than kNoise.
std::string fine_decimals(double value, int digits);

}  // namespace headlight
