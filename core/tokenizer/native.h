// Reads a class's vocabulary from any of its files, in the form of a tokenizer.json.
#pragma once

#include "tokenizer/classes.h"
#include "tokenizer/sentence_piece.h"

namespace headlight {

struct Native {
    Json model;                               // "type", "vocab" and, for BPE, "merges"
    Json charsmap;                            // in base64, or null
    Json around;                              // post-processor of tokenizer.json, or null
    std::vector<AddedToken> pieces;           // control and user-defined pieces of a SentencePiece model
    std::optional<SentencePieceFile> source;  // the SentencePiece model
};

/// Reads tokenizer.json if it exists, else the class's own files. Fails if missing or of another type.
Result<Native> read_native(const TokenizerFolder& folder, const TokenizerClass& row);

/// Describes a tokenizer that does what SentencePiece itself does with a model (transformers'
/// build_tokenizer_from_spm_proto); `legacy`: puts a space before every stretch between added tokens, not
/// only the first.
Result<Json> sentence_piece_description(const SentencePieceFile& file, const std::vector<AddedToken>& renamed,
                                        bool legacy, const std::string& name);

}  // namespace headlight
