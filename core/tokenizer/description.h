// What a tokenizer.json describes.
#pragma once

#include "tokenizer/tokenizer.h"

namespace headlight {

/// The type of a "model"; old files do not say it.
std::string model_type_of(const Json& model);

/// The steps before and after the vocabulary, and nothing of it.
Result<TokenizerParts> steps_of(const Json& root, const std::string& name);

/// The steps that the object of a tokenizer.json describes; `name` is what messages call it.
Result<TokenizerParts> parts_of(const Json& root, const std::string& name);

}  // namespace headlight
