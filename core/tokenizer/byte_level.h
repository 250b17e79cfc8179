// Spells any byte as a printable character, as GPT-2 does (Radford et al. 2019).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "tokenizer/text.h"

namespace headlight {

/// "Ġthe" → " the". Fails on a character that represents no byte.
Result<std::string> bytes_of_printable(std::string_view printable);

/// " the" → "Ġthe".
std::string printable_of_bytes(std::string_view bytes);

/// Spells a text in printable characters, each aligned with the original character that its byte belongs to.
AlignedText in_printable(const AlignedText& text);

}  // namespace headlight
