// Reads the description of a tokenizer.json.
#pragma once

#include "tokenizer/tokenizer.h"

namespace headlight {

/// Returns the type of a "model", inferred in old files that omit it.
std::string model_type_of(const Json& model);

/// Reads the steps before and after the vocabulary, without the vocabulary.
Result<TokenizerParts> steps_of(const Json& root, const std::string& name);

/// Reads all steps of a tokenizer.json; messages call it `name`.
Result<TokenizerParts> parts_of(const Json& root, const std::string& name);

}  // namespace headlight
