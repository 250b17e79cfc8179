// Opens tokenizers from folders.
#pragma once

#include <filesystem>
#include <memory>

#include "tokenizer/folder.h"
#include "tokenizer/tokenizer.h"

namespace headlight {

/// Holds a tokenizer, and the decoder's if that differs (Marian).
struct TokenizerPair {
    std::shared_ptr<const Tokenizer> source, target;
};

/// Opens tokenizer.json; or source.spm, target.spm and vocab.json (Marian); or a SentencePiece model; or
/// vocab.json and merges.txt; or vocab.txt. Reads them as the class that AutoTokenizer of transformers 5
/// chooses, with the tokens of tokenizer_config.json, special_tokens_map.json and added_tokens.json. Refuses
/// a class that Headlight does not implement by its name, unless tokenizer.json describes it.
Result<TokenizerPair> open_tokenizer_files(const TokenizerFolder& folder);
Result<TokenizerPair> open_tokenizer_files(const std::filesystem::path& folder);

}  // namespace headlight
