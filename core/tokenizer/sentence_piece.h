// Reads SentencePiece model files (Kudo and Richardson 2018): a protocol buffer of pieces, scores and a
// normalization. Parses them here because the library follows the file's trie without bounds checks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokenizer/charsmap.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/token_model.h"

namespace headlight {

enum class PieceKind { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct SentencePieceFile {
    std::vector<std::string> pieces;
    std::vector<float> scores;
    std::vector<PieceKind> kinds;
    bool unigram = true;  // else BPE
    bool byte_fallback = false;
    bool add_blank = true;    // adds a space in front of a text
    bool join_blanks = true;  // merges runs of spaces, removes those at the ends
    bool escape_blanks = true;
    std::string charsmap_bytes;  // and what they mean
    std::shared_ptr<const Charsmap> charsmap;
    int unknown_id = 0, begin_id = 1, end_id = 2;  // from the trainer; −1: none
    std::string unknown_piece = "<unk>", begin_piece = "<s>", end_piece = "</s>";

    int id_of(PieceKind kind) const;  // first of a kind, or −1
};

/// Parses the bytes of a .model or .spm file; messages call it `name`.
Result<SentencePieceFile> parse_sentence_piece(std::string_view bytes, const std::string& name);

/// Makes the file's normalization: character map, spaces merged, one added in front, all replaced by "▁".
Normalizer sentence_piece_normalizer(const SentencePieceFile& file);

/// Makes its vocabulary, Unigram or BPE.
Result<std::shared_ptr<const TokenModel>> sentence_piece_model(const SentencePieceFile& file,
                                                               const std::string& name);

}  // namespace headlight
