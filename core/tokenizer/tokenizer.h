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

/// Says how a vocabulary spells spaces and bytes.
enum class Spelling {
    byte_level,  // "Ġthe"
    metaspace,   // "▁the", "<0x0A>"
    word_piece,  // "the", "##s"
};

/// Holds the steps of a tokenizer, wherever they were read.
struct TokenizerParts {
    std::shared_ptr<const TokenModel> model;
    Normalizer normalizer;         // or none
    PreTokenizer pre_tokenizer;    // or none
    PostProcessor post_processor;  // or none
    std::vector<AddedToken> added;
    Spelling spelling = Spelling::byte_level;
    std::shared_ptr<const Vocabulary> ids;  // ids from another file (Marian); null: the model's own
    int unknown = -1;                       // id of pieces that the other file lacks
    bool language_code = false;             // a text may begin with ">>de<<", one token (Marian)
};

/// Is an open tokenizer; immutable and thread-safe.
class Tokenizer {
public:
    /// Makes it from its steps; messages call the file `name`. Fails if an added token cannot be normalized.
    static Result<std::shared_ptr<const Tokenizer>> make(TokenizerParts parts, const std::string& name);

    /// Parses the text of a tokenizer.json; messages call it `name`.
    static Result<std::shared_ptr<const Tokenizer>> parse(std::string_view text, const std::string& name);

    /// Tokenizes a text. Reads invalid UTF-8 as U+FFFD. Adds special tokens if `special`. Fails if a step
    /// exceeds its limits on this text.
    Result<Encoding> encode(std::string_view text, bool special = true) const;
    /// Tokenizes two texts, joined as the model expects. Offsets count from the start of each.
    Result<Encoding> encode_pair(std::string_view text, std::string_view pair, bool special = true) const;

    /// Returns the vocabulary's spelling of an id ("Ġthe"), or "".
    std::string spelling(int id) const;

    /// Returns the bytes of an id (" the"), perhaps a part of a UTF-8 sequence. WordPiece keeps its "##".
    std::string bytes(int id) const;

    /// Decodes ids to text, without special tokens.
    std::string decode(const std::vector<int>& ids) const;

    /// Returns the id of an added token or a piece by its spelling, or −1.
    int id_of(std::string_view spelling) const;

    /// Returns the largest id + 1, added tokens included.
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
