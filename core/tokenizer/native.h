// A class's vocabulary as a tokenizer.json would hold it, from whatever file it lies in.
#pragma once

#include "tokenizer/classes.h"
#include "tokenizer/sentence_piece.h"

namespace headlight {

struct Native {
    Json model;                               // "type", "vocab" and, for BPE, "merges"
    Json charsmap;                            // in base64, or null
    Json around;                              // tokenizer.json's post-processor, or null
    std::vector<AddedToken> pieces;           // control and user-defined pieces of a SentencePiece model
    std::optional<SentencePieceFile> source;  // that model
};

/// From tokenizer.json where it is there, else from the class's own files. Fails where they are missing or
/// are of another type.
Result<Native> read_native(const TokenizerFolder& folder, const TokenizerClass& row);

/// The description of a tokenizer that does what SentencePiece itself does with a model (transformers'
/// build_tokenizer_from_spm_proto); `legacy`: a blank stands in front of every stretch between added tokens,
/// not of the first alone.
Result<Json> sentence_piece_description(const SentencePieceFile& file, const std::vector<AddedToken>& renamed,
                                        bool legacy, const std::string& name);

std::string to_base64(std::string_view bytes);

}  // namespace headlight
