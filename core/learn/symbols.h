// Finds the symbols that occur in a text.
#pragma once

#include <string>
#include <vector>

#include "learn/page.h"

namespace headlight::learn {

/// Returns whether a symbol occurs by itself: d in "q · k / √d", not in "d_k" and not in "and".
bool has_sign(const std::string& text, const std::string& sign);

/// Splits "W₁, W₂" into two symbols.
std::vector<std::string> signs_of(const Symbol& symbol);

/// Returns "q: the query; k: a key" for those that occur in a text; "": none.
std::string explained(const std::vector<Symbol>& symbols, const std::string& text);

}  // namespace headlight::learn
