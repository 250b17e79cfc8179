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
/// model; or vocab.json and merges.txt; or vocab.txt. What lies in special_tokens_map.json or
/// tokenizer_config.json is respected.
Result<TokenizerPair> open_tokenizer_files(const std::filesystem::path& folder);

}  // namespace headlight
