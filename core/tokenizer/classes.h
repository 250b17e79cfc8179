// The tokenizer classes of transformers 5, and which of them reads a folder.
#pragma once

#include <span>

#include "tokenizer/folder.h"

namespace headlight {

/// What makes the tokens around a text.
enum class Around { by_flags, flags_alone, roberta, bert, t5, xlm_roberta, albert };

/// What a class makes of a vocabulary.
struct TokenizerClass {
    const char* name;
    const char* model;                    // the type of its vocabulary: "BPE"; "" for those that read any
    const char* file;                     // where that lies when there is no tokenizer.json
    std::array<const char*, 7> specials;  // in the order of kSpecialNames; null: none
    Around around = Around::by_flags;
    /// The normalizer, the pre-tokenizer and what else the vocabulary's type has; `charsmap` is a file's own
    /// character map, or null.
    Result<Json> (*steps)(const TokenizerFolder& folder, const Json& charsmap);
};

/// The class that reads tokenizer.json as it stands, and what lies in tokenizer.model as SentencePiece would.
inline constexpr const char* kBackend = "TokenizersBackend";

/// The class's row, or null where Headlight does not have it.
const TokenizerClass* tokenizer_class(std::string_view name);

/// The name of the class that AutoTokenizer of transformers 5 chooses; "" where the folder does not say
/// enough.
std::string choose_class(const TokenizerFolder& folder);

/// The name without "Fast", and with what it is another name for followed.
std::string class_behind(std::string_view name);

}  // namespace headlight
