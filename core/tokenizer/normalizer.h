// Normalizers: what a tokenizer does to text before it splits it.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "io/json.h"
#include "tokenizer/text.h"

namespace headlight {

/// Makes at most `max` bytes of a text. Fails, with a sentence, where it would make more or where its
/// pattern cannot be searched for.
using Normalizer = std::function<Result<AlignedText>(AlignedText, size_t max)>;

/// What a normalizer says of a text that it makes too long.
Error normalized_too_long();

/// The normalizer that tokenizer.json describes; null means none. Unknown types are an error that names them.
Result<Normalizer> make_normalizer(const Json& description, const std::string& name);

/// BERT's: control characters out, blanks for white space, blanks around Chinese characters, accents and case
/// as asked.
Normalizer make_bert_normalizer(bool clean, bool chinese, bool strip_accents, bool lower);

}  // namespace headlight
