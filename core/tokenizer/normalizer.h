// Normalizes text before it is split.
#pragma once

#include <functional>

#include "base/result.h"
#include "io/json.h"
#include "tokenizer/text.h"

namespace headlight {

/// Normalizes a text to at most `max` bytes. Fails if the result is longer or a search fails.
using Normalizer = std::function<Result<AlignedText>(AlignedText, size_t max)>;

/// Returns the error of a normalizer whose result is too long.
Error normalized_too_long();

/// Makes the normalizer that tokenizer.json describes; null means none. Unknown types are errors.
Result<Normalizer> make_normalizer(const Json& description, const std::string& name);

/// Makes BERT's: removes control characters, turns white space into spaces, puts spaces around Chinese
/// characters, strips accents and lower-cases as asked.
Normalizer make_bert_normalizer(bool clean, bool chinese, bool strip_accents, bool lower);

}  // namespace headlight
