// Added tokens: strings that are cut out of the text before anything else happens to it.
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

/// A stretch of text, or an added token found in it (id ≥ 0).
struct Segment {
    AlignedText text;
    int id = -1;
};

/// Finds added tokens, leftmost first and longest first.
class AddedTokenMatcher {
public:
    void add(const AddedToken& token) { tokens_.add(token.content, token); }
    /// Cuts text into added tokens and what lies between them; nothing empty comes back.
    std::vector<Segment> split(const AlignedText& text) const;

private:
    PrefixTable<AddedToken> tokens_;
};

/// Gives added tokens their ids as Hugging Face's tokenizers does: the vocabulary's where it has the token,
/// else the next one that is free, whatever a file says. A later description of a token replaces an earlier
/// one.
class AddedVocabulary {
public:
    explicit AddedVocabulary(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}
    /// What is added in one call is numbered on; each call begins after the largest id.
    void add(const std::vector<AddedToken>& tokens);
    bool has(const std::string& content) const { return ids_.contains(content); }
    /// The id of an added token or of one of the vocabulary, or -1.
    int id_of(const std::string& content) const;
    /// By id.
    std::vector<AddedToken> tokens() const;

private:
    const Vocabulary& vocabulary_;
    std::map<int, AddedToken> by_id_;
    std::map<std::string, int, std::less<>> ids_;
};

/// One added token as JSON files describe it, its id apart.
Result<AddedToken> read_added_token(const Json& description, const std::string& name);

/// The "added_tokens" list of tokenizer.json.
Result<std::vector<AddedToken>> read_added_tokens(const Json& list, const std::string& name);

}  // namespace headlight
