// A folder's tokenizer as one of transformers' classes makes it.
#pragma once

#include "tokenizer/classes.h"
#include "tokenizer/tokenizer.h"

namespace headlight {

/// The steps that a class makes of a folder's vocabulary, its added tokens, and what it puts around a text.
Result<TokenizerParts> class_parts(const TokenizerFolder& folder, const TokenizerClass& row);

/// tokenizer.json as it stands, and the added tokens of the files beside it.
Result<TokenizerParts> described_parts(const TokenizerFolder& folder);

/// Adds what a folder's files list to what is there already.
void add_folder_tokens(const TokenizerFolder& folder, AddedVocabulary& added);

}  // namespace headlight
