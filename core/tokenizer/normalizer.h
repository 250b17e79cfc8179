// Normalizers: what a tokenizer does to text before it splits it.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "io/json.h"
#include "tokenizer/text.h"

namespace headlight {

using Normalizer = std::function<AlignedText(AlignedText)>;

/// The normalizer that tokenizer.json describes; null means none. Unknown types are an error that names them.
Result<Normalizer> make_normalizer(const Json& description, const std::string& name);

/// Unicode canonical composition (UAX #15). A composed character stands for its first original code point.
AlignedText normalize_nfc(const AlignedText& text);

}  // namespace headlight
