// The signs that stand in a text.
#pragma once

#include <string>
#include <vector>

#include "learn/page.h"

namespace headlight::learn {

/// Whether a sign stands in a text by itself: d in "q · k / √d", not in "d_k" and not in "and".
bool has_sign(const std::string& text, const std::string& sign);

/// "W₁, W₂" as two signs.
std::vector<std::string> signs_of(const Symbol& symbol);

/// "q: the query; k: a key" of those that stand in a text; "": none.
std::string explained(const std::vector<Symbol>& symbols, const std::string& text);

}  // namespace headlight::learn
