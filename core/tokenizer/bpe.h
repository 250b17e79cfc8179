// Byte-pair encoding (Sennrich et al. 2016) over bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "io/json.h"

namespace headlight {

/// Part of a word and its id.
struct BpeToken {
    int id;
    size_t begin, end;  // bytes of the word
};

/// A vocabulary of byte strings and the merges that build them.
class Bpe {
public:
    /// From tokenizer.json's "model" object. `name` is what messages call the file.
    static Result<Bpe> from_json(const Json& model, const std::string& name);
    /// From vocab.json's object and the text of merges.txt.
    static Result<Bpe> from_files(const Json& vocab, std::string_view merges, const std::string& name);

    /// The tokens of one word. Bytes that the vocabulary lacks are left out, as Hugging Face does without an unknown token.
    std::vector<BpeToken> encode(std::string_view word) const;

    /// Largest id + 1.
    int size() const { return size_; }
    /// Printable form as the file spells it ("Ġthe"); empty where no token has this id.
    const std::string& spelling(int id) const;
    /// Id of a token by its printable form, or -1.
    int id_of(const std::string& spelling) const;

private:
    Status read_vocab(const Json& vocab, const std::string& name);
    Status add_merge(const std::string& left, const std::string& right, const std::string& name);

    struct Merge {
        int rank, id;
    };
    std::unordered_map<std::string, int> ids_;    // printable form → id
    std::vector<std::string> spellings_;          // id → printable form
    std::vector<int> byte_ids_ = std::vector<int>(256, -1);
    std::unordered_map<std::string, int> words_;  // bytes → id, filled where whole words come first
    std::unordered_map<uint64_t, Merge> merges_;  // (left id, right id) → what they become
    int size_ = 0;
    bool ignore_merges_ = false;
};

}  // namespace headlight
