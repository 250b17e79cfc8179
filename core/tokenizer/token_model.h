// Declares what vocabularies have in common: a word comes in, tokens come out.
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

/// Represents a space in SentencePiece's pieces, U+2581.
inline constexpr std::string_view kMetaspace = "▁";

/// Stands in for an id if no token of the vocabulary covers this part, so that the text cannot be tokenized.
inline constexpr int kNoToken = -2;

/// Is a part of a word and its id.
struct ModelToken {
    int id;
    size_t begin, end;      // bytes of the word
    std::string text = {};  // overrides the vocabulary's spelling (of a run of unknown characters)
};

class Vocabulary {
public:
    /// Reads a JSON object {"token": id}; messages call the file `name`.
    static Result<Vocabulary> from_json(const Json& vocab, const std::string& name);
    /// Takes spellings in the order of their ids. The last of equal spellings counts.
    static Result<Vocabulary> from_list(std::vector<std::string> spellings, const std::string& name);

    /// Returns the largest id + 1.
    int size() const { return isize(spellings_); }
    /// Counts the listed tokens: the id of the first added token.
    int count() const { return count_; }
    /// Returns the file's spelling of an id ("Ġthe"); empty if no token has it.
    const std::string& spelling(int id) const;
    /// Returns the id of a spelling, or −1.
    int id_of(std::string_view spelling) const;
    /// Returns the ids of "<0x00>" … "<0xFF>", −1 for missing ones.
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

/// Cuts a word into tokens of its vocabulary by one of the algorithms; immutable.
class TokenModel {
public:
    virtual ~TokenModel() = default;
    virtual std::vector<ModelToken> encode(std::string_view word) const = 0;
    const Vocabulary& vocabulary() const { return vocabulary_; }

protected:
    explicit TokenModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
    Vocabulary vocabulary_;
};

/// Refuses a token of more than 4,096 bytes: each position of a text may become one.
Status check_spelling(std::string_view spelling, const std::string& name);

/// Reads object[key] as (part of) a token's spelling, or `fallback`.
Result<std::string> json_spelling(const Json& object, JsonKey key, const std::string& fallback,
                                  const std::string& name);

}  // namespace headlight
