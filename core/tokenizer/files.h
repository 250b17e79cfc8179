// Tokenizers as they lie in folders.
#pragma once

#include <filesystem>
#include <memory>

#include "tokenizer/tokenizer.h"

namespace headlight {

/// A tokenizer, and the one for the decoder's side where that is another (Marian).
struct TokenizerPair {
    std::shared_ptr<const Tokenizer> source, target;
};

/// From a folder with tokenizer.json; or source.spm, target.spm and vocab.json (Marian); or a SentencePiece
/// model; or vocab.json and merges.txt; or vocab.txt. They are read as the class reads them that
/// AutoTokenizer of transformers 5 chooses, with the tokens of tokenizer_config.json, special_tokens_map.json
/// and added_tokens.json; a class that Headlight does not have is refused by its name, unless tokenizer.json
/// describes it.
Result<TokenizerPair> open_tokenizer_files(const std::filesystem::path& folder);

}  // namespace headlight
