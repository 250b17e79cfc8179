// Byte-pair encoding (Sennrich et al. 2016), over bytes or over characters.
#pragma once

#include <memory>

#include "tokenizer/prefix_table.h"
#include "tokenizer/token_model.h"

namespace headlight {

/// Says how to treat characters that the vocabulary lacks, and how vocabularies differ otherwise.
struct BpeOptions {
    bool ignore_merges = false;  // a word in the vocabulary is one token
    bool byte_fallback = false;  // unknown characters become <0x…> tokens
    bool fuse_unknown = false;   // runs of unknown characters become one token
    /// −1: drop unknown characters, as Hugging Face does; kNoToken: one is set, but not in the vocabulary
    int unknown = -1;
    std::string prefix, suffix;  // prefix: before pieces inside a word; suffix: after its last piece
};

class Bpe final : public TokenModel {
public:
    /// Makes it from tokenizer.json's "model" object.
    static Result<std::shared_ptr<const TokenModel>> from_json(const Json& model, const std::string& name);
    /// Makes it from merges as "left right" lines.
    static Result<std::shared_ptr<const TokenModel>> from_merges(Vocabulary vocabulary,
                                                                 const std::vector<std::string>& merges,
                                                                 BpeOptions options, const std::string& name);
    /// Makes SentencePiece's BPE (Kudo and Richardson 2018): any two neighbors whose union is a token may
    /// merge, the highest score first. Tokens without a score (NaN) match no text; `whole` lists pieces that
    /// are never cut or merged.
    static std::shared_ptr<const TokenModel> from_scores(Vocabulary vocabulary, std::vector<float> scores,
                                                         const std::vector<int>& whole, BpeOptions options);

    std::vector<ModelToken> encode(std::string_view word) const override;

private:
    struct Merge {
        float rank;
        int id;
    };
    struct Symbol {
        int id;
        int previous, next;
        size_t begin, end;
        bool fixed = false;
    };
    Bpe(Vocabulary vocabulary, BpeOptions options);
    Status add_merge(std::string_view left, std::string_view right, const std::string& name);
    Status add_merges(const Json& merges, const std::string& name);
    std::vector<Symbol> split(std::string_view word) const;
    std::vector<Symbol> split_by_scores(std::string_view word) const;
    std::vector<Symbol> split_by_merges(std::string_view word) const;
    int id_of_character(std::string_view word, size_t at, size_t length) const;
    bool falls_back(std::string_view character, std::vector<Symbol>& symbols, size_t at) const;
    int id_in_text(std::string_view spelling) const;
    bool find_merge(std::string_view word, const Symbol& left, const Symbol& right, Merge& merge) const;
    std::vector<ModelToken> name_unknown(std::string_view word, const std::vector<Symbol>& symbols) const;

    BpeOptions options_;
    std::vector<int> byte_ids_;                   // by byte: its token, or −1
    std::unordered_map<uint64_t, Merge> merges_;  // (left id, right id) → merged token
    int merge_count_ = 0;
    std::vector<float> scores_;  // by id; replace merges
    PrefixTable<int> whole_;
};

}  // namespace headlight
