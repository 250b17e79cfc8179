// What the vocabularies have in common: a word comes in, tokens come out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/cast.h"
#include "base/result.h"
#include "io/json.h"

namespace headlight {

/// What stands for a blank in SentencePiece's pieces, U+2581.
inline constexpr std::string_view kMetaspace = "▁";

/// In place of an id: no token of the vocabulary stands for this part, and the text cannot be tokenized.
inline constexpr int kNoToken = -2;

/// Part of a word and its id.
struct ModelToken {
    int id;
    size_t begin, end;      // bytes of the word
    std::string text = {};  // shown in place of the vocabulary's spelling (a run of unknown characters)
};

/// Ids and their spellings.
class Vocabulary {
public:
    /// From a JSON object {"token": id}. `name` is what messages call the file.
    static Result<Vocabulary> from_json(const Json& vocab, const std::string& name);
    /// From spellings in the order of their ids. Of equal spellings the last counts.
    static Result<Vocabulary> from_list(std::vector<std::string> spellings, const std::string& name);

    /// Largest id + 1.
    int size() const { return isize(spellings_); }
    /// Tokens that it lists: the id that the first added token takes.
    int count() const { return count_; }
    /// The file's spelling of an id ("Ġthe"); empty where no token has it.
    const std::string& spelling(int id) const;
    /// Id of a token by its spelling, or -1.
    int id_of(std::string_view spelling) const;
    /// Ids of "<0x00>" … "<0xFF>", −1 where one is missing.
    std::vector<int> byte_tokens() const;

private:
    struct Hash {
        using is_transparent = void;
        size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
    };
    std::unordered_map<std::string, int, Hash, std::equal_to<>> ids_;
    std::vector<std::string> spellings_;
    int count_ = 0;
};

/// One of the algorithms that cut a word into tokens of its vocabulary; immutable.
class TokenModel {
public:
    virtual ~TokenModel() = default;
    virtual std::vector<ModelToken> encode(std::string_view word) const = 0;
    const Vocabulary& vocabulary() const { return vocabulary_; }

protected:
    explicit TokenModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
    Vocabulary vocabulary_;
};

/// Refuses a token of more than 4,096 bytes: each place of a text may become one, so that its length counts
/// as often.
Status check_spelling(std::string_view spelling, const std::string& name);

/// object[key] as (part of) a token's spelling, or `fallback`.
Result<std::string> json_spelling(const Json& object, JsonKey key, const std::string& fallback,
                                  const std::string& name);

}  // namespace headlight
