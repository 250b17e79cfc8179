// Splits pieces of text at matches of a pattern.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "tokenizer/text.h"

namespace headlight {

/// Says what becomes of matched text.
enum class Behavior { isolated, removed, merged_with_previous, merged_with_next, contiguous };

/// Calls found(begin, end) for each match from left to right, in bytes.
using Matcher =
    std::function<Status(std::string_view text, const std::function<void(size_t, size_t)>& found)>;

/// Splits each piece at the matches of `matcher` (inverted: at the text between). Returns nothing empty.
Status split(std::vector<AlignedText>& pieces, const Matcher& matcher, Behavior behavior, bool invert);

}  // namespace headlight
