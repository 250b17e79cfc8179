// Added tokens: strings that are cut out of the text before anything else happens to it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/json.h"
#include "tokenizer/text.h"

namespace headlight {

struct AddedToken {
    int id = 0;
    std::string content;
    bool single_word = false, lstrip = false, rstrip = false, normalized = false, special = false;
};

/// A stretch of text, or an added token found in it (id ≥ 0).
struct Segment {
    AlignedText text;
    int id = -1;
};

/// Finds added tokens, leftmost first and longest first.
class AddedTokenMatcher {
public:
    void add(const AddedToken& token);
    /// Cuts text into added tokens and what lies between them; nothing empty comes back.
    std::vector<Segment> split(const AlignedText& text) const;

private:
    const AddedToken* match_at(std::string_view text, size_t at) const;
    std::array<std::vector<AddedToken>, 256> by_first_byte_;  // longest first
    bool any_ = false;
};

/// The "added_tokens" list of tokenizer.json.
Result<std::vector<AddedToken>> read_added_tokens(const Json& list, const std::string& name);

}  // namespace headlight
