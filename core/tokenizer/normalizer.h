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

/// BERT's: control characters out, blanks for white space, blanks around Chinese characters, accents and case as asked.
Normalizer make_bert_normalizer(bool clean, bool chinese, bool strip_accents, bool lower);

}  // namespace headlight
