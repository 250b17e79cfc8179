// Declares what filters and methods of texts share.
#pragma once

#include "chat/jinja/interpreter.h"

namespace headlight::jinja {

/// Says how letters change: "words" as Jinja's filter title, "title" as Python's str.title().
enum class Case { upper, lower, capitalized, words, title, swapped };
Text in_case(Interpreter& run, const Text& text, Case as);
bool is_alphanumeric(char32_t c);

/// Replaces at most `most` occurrences; −1: all.
Text replaced(Interpreter& run, const Text& text, const Text& from, const Text& to, int64_t most);
/// Returns lines without their ends, as str.splitlines() does.
std::vector<Stretch> lines_of(std::string_view text);
/// Fills a text up to a width: '<' on its right, '>' on its left, '^' on both sides.
Text padded(Interpreter& run, const Text& text, int64_t width, const Text& fill, char side);

}  // namespace headlight::jinja
