// Cuts added tokens out of the text before anything else happens to it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/json.h"
#include "tokenizer/prefix_table.h"
#include "tokenizer/text.h"
#include "tokenizer/token_model.h"

namespace headlight {

struct AddedToken {
    int id = 0;
    std::string content;
    bool single_word = false, lstrip = false, rstrip = false, normalized = false, special = false;
    bool operator==(const AddedToken&) const = default;
};

/// Is a piece of text, or an added token found in it (id ≥ 0).
struct Segment {
    AlignedText text;
    int id = -1;
};

/// Finds added tokens, leftmost first and longest first.
class AddedTokenMatcher {
public:
    void add(const AddedToken& token) { tokens_.add(token.content, token); }
    /// Cuts text into added tokens and the text between them; returns nothing empty.
    std::vector<Segment> split(const AlignedText& text) const;

private:
    PrefixTable<AddedToken> tokens_;
};

/// Numbers added tokens as Hugging Face's tokenizers does: the vocabulary's id if it has the token, else the
/// next free one, whatever a file says. A later description of a token replaces an earlier one.
class AddedVocabulary {
public:
    explicit AddedVocabulary(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}
    /// Numbers new tokens consecutively; each call begins after the largest id.
    void add(const std::vector<AddedToken>& tokens);
    bool has(const std::string& content) const { return ids_.contains(content); }
    /// Returns the id of an added token or of one of the vocabulary, or −1.
    int id_of(const std::string& content) const;
    /// Lists them by id.
    std::vector<AddedToken> tokens() const;

private:
    const Vocabulary& vocabulary_;
    std::map<int, AddedToken> by_id_;
    std::map<std::string, int, std::less<>> ids_;
};

/// Reads one added token from JSON, without its id.
Result<AddedToken> read_added_token(const Json& description, const std::string& name);

Result<std::vector<AddedToken>> read_added_tokens(const Json& list, const std::string& name);

}  // namespace headlight
