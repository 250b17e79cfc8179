// Text to tokens and back, with ids, spellings and offsets equal to Hugging Face's.
//
//   text → added tokens cut out → normalizer → pre-tokenizer → vocabulary (BPE) → post-processor
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tokenizer/added_tokens.h"
#include "tokenizer/bpe.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/post_processor.h"
#include "tokenizer/pre_tokenizer.h"

namespace headlight {

/// An open tokenizer; immutable, safe to use from several threads.
class Tokenizer {
public:
    /// From a folder with tokenizer.json, or vocab.json + merges.txt (GPT-2's own files).
    static Result<std::shared_ptr<const Tokenizer>> open(const std::filesystem::path& folder);

    /// From the text of a tokenizer.json; `name` is what messages call it. For tests and fuzzing.
    static Result<std::shared_ptr<const Tokenizer>> parse(std::string_view text, const std::string& name);

    /// Tokens of a text. Invalid UTF-8 is read as U+FFFD. Without `special`, no tokens are put around it.
    Result<Encoding> encode(std::string_view text, bool special = true) const;

    /// The vocabulary's spelling of an id ("Ġthe"), or "" where there is none.
    std::string spelling(int id) const;

    /// The bytes an id stands for (" the"); part of a UTF-8 sequence is possible.
    std::string bytes(int id) const;

    /// The text of a row of ids, special tokens left out.
    std::string decode(const std::vector<int>& ids) const;

    /// Largest id + 1, added tokens included.
    int size() const;

private:
    Tokenizer() = default;
    static Result<std::shared_ptr<const Tokenizer>> from_json(const Json& root, const std::string& name);
    const AddedToken* added_token(int id) const;

    Bpe bpe_;
    std::vector<AddedToken> added_;
    AddedTokenMatcher before_normalizer_, after_normalizer_;
    Normalizer normalizer_;
    PreTokenizer pre_tokenizer_;
    PostProcessor post_processor_;
};

}  // namespace headlight
