// Splits text by Unicode script (UAX #24), as SentencePiece does.
#pragma once

#include "tokenizer/split.h"

namespace headlight {

/// Finds runs of characters of one script; spaces and characters without a script belong to the run before
/// them, and Hiragana and Katakana are Han. Text before the first run belongs to none.
Status find_scripts(std::string_view text, const std::function<void(size_t, size_t)>& found);

}  // namespace headlight
