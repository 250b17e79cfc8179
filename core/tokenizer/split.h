// Cutting pieces of text at what a pattern finds.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "tokenizer/text.h"

namespace headlight {

/// What becomes of the text that a pattern matched.
enum class Behavior { isolated, removed, merged_with_previous, merged_with_next, contiguous };

/// Calls found(begin, end) for each match from left to right, in bytes.
using Matcher =
    std::function<Status(std::string_view text, const std::function<void(size_t, size_t)>& found)>;

/// Cuts each piece at what `matcher` finds (or, inverted, at what it does not find). Nothing empty comes
/// back.
Status split(std::vector<AlignedText>& pieces, const Matcher& matcher, Behavior behavior, bool invert);

}  // namespace headlight
