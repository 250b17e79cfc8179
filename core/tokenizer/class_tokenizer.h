// Builds a folder's tokenizer as its class in transformers does.
#pragma once

#include "tokenizer/classes.h"
#include "tokenizer/tokenizer.h"

namespace headlight {

/// Makes the steps of a class from a folder's vocabulary, its added tokens, and special tokens around texts.
Result<TokenizerParts> class_parts(const TokenizerFolder& folder, const TokenizerClass& row);

/// Reads tokenizer.json unchanged, and adds the added tokens of the files beside it.
Result<TokenizerParts> described_parts(const TokenizerFolder& folder);

void add_folder_tokens(const TokenizerFolder& folder, AddedVocabulary& added);

}  // namespace headlight
