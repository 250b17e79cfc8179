// GPT-2's way to write any byte as a printable character (Radford et al. 2019).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "tokenizer/text.h"

namespace headlight {

/// "Ġthe" → " the". Fails on a character that stands for no byte.
Result<std::string> bytes_of_printable(std::string_view printable);

/// " the" → "Ġthe".
std::string printable_of_bytes(std::string_view bytes);

/// A text in its printable form; what a byte becomes stands for the character that the byte is part of.
AlignedText in_printable(const AlignedText& text);

}  // namespace headlight
