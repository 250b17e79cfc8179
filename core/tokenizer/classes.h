// Describes the tokenizer classes of transformers 5, and chooses one for a folder.
#pragma once

#include "tokenizer/folder.h"

namespace headlight {

/// Says how a class makes the special tokens around a text.
enum class Around { by_flags, flags_alone, roberta, bert, t5, xlm_roberta, albert, esm };

/// Describes how a class treats a vocabulary.
struct TokenizerClass {
    const char* name;
    const char* model;                    // type of its vocabulary: "BPE"; "": any
    const char* file;                     // file of the vocabulary if there is no tokenizer.json
    std::array<const char*, 7> specials;  // in the order of kSpecialNames; null: none
    Around around = Around::by_flags;
    /// Makes normalizer, pre-tokenizer and vocabulary options; `charsmap`: the file's character map, or null.
    Result<Json> (*steps)(const TokenizerFolder& folder, const Json& charsmap);
};

/// Names the class that reads tokenizer.json unchanged, and tokenizer.model as SentencePiece would.
inline constexpr const char* kBackend = "TokenizersBackend";

/// Returns the class's row, or null if Headlight does not implement it.
const TokenizerClass* tokenizer_class(std::string_view name);

/// Returns the class that AutoTokenizer of transformers 5 chooses; "" if the folder does not say enough.
std::string choose_class(const TokenizerFolder& folder);

/// Returns the name without "Fast", with aliases resolved.
std::string resolve_class(std::string_view name);

}  // namespace headlight
