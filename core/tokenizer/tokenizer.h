// Text to tokens and back, with ids, spellings and offsets equal to Hugging Face's.
//
//   text → added tokens cut out → normalizer → pre-tokenizer → vocabulary (BPE, WordPiece, Unigram) →
//   post-processor
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "tokenizer/added_tokens.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/post_processor.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/token_model.h"

namespace headlight {

/// How a vocabulary spells blanks and bytes.
enum class Spelling {
    byte_level,  // "Ġthe"
    metaspace,   // "▁the", "<0x0A>"
    word_piece,  // "the", "##s"
};

/// The steps of a tokenizer, wherever they were read.
struct TokenizerParts {
    std::shared_ptr<const TokenModel> model;
    Normalizer normalizer;         // or none
    PreTokenizer pre_tokenizer;    // or none
    PostProcessor post_processor;  // or none
    std::vector<AddedToken> added;
    Spelling spelling = Spelling::byte_level;
    std::shared_ptr<const Vocabulary>
        ids;           // where pieces take their ids from another file (Marian); null: the model's own
    int unknown = -1;  // the id of pieces which that file lacks
    bool language_code = false;  // a text may begin with ">>de<<", a token of its own (Marian)
};

/// An open tokenizer; immutable, safe to use from several threads.
class Tokenizer {
public:
    /// From its steps; `name` is what messages call the file. Fails where an added token cannot be
    /// normalized.
    static Result<std::shared_ptr<const Tokenizer>> make(TokenizerParts parts, const std::string& name);

    /// From the text of a tokenizer.json; `name` is what messages call it.
    static Result<std::shared_ptr<const Tokenizer>> parse(std::string_view text, const std::string& name);

    /// Tokens of a text. Invalid UTF-8 is read as U+FFFD. Without `special`, no tokens are put around it.
    /// Fails where a step of the file's exceeds its limits on this text.
    Result<Encoding> encode(std::string_view text, bool special = true) const;
    /// Tokens of two texts, joined as the model expects. Offsets count from the beginning of each.
    Result<Encoding> encode_pair(std::string_view text, std::string_view pair, bool special = true) const;

    /// The vocabulary's spelling of an id ("Ġthe"), or "" where there is none.
    std::string spelling(int id) const;

    /// The bytes an id stands for (" the"); part of a UTF-8 sequence is possible. WordPiece keeps its "##".
    std::string bytes(int id) const;

    /// The text of a row of ids, special tokens left out.
    std::string decode(const std::vector<int>& ids) const;

    /// The id of an added token or a piece by its spelling, or -1.
    int id_of(std::string_view spelling) const;

    /// Largest id + 1, added tokens included.
    int size() const;

private:
    Tokenizer(TokenizerParts parts, std::string name) : parts_(std::move(parts)), name_(std::move(name)) {}
    Error named(const Error& error) const { return {name_ + ": " + error.message}; }
    Result<AlignedText> normalize(AlignedText text) const;
    Result<Encoding> process(std::vector<Encoding> texts, bool special) const;
    Result<Encoding> encode_one(std::string_view text, int type) const;
    void push_piece(std::string piece, int id, Span offset, int type, Encoding& out) const;
    size_t take_language_code(std::string_view text, int type, Encoding& out) const;
    Status encode_segment(const AlignedText& text, int type, Encoding& out) const;
    const AddedToken* added_token(int id) const;
    const Vocabulary& vocabulary() const { return parts_.ids ? *parts_.ids : parts_.model->vocabulary(); }

    TokenizerParts parts_;
    std::string name_;  // of its file, for messages
    std::unordered_map<int, size_t> added_by_id_;
    AddedTokenMatcher before_normalizer_, after_normalizer_;
};

}  // namespace headlight
