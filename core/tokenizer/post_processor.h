// Adds special tokens around the text, and trims spaces from offsets.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/json.h"
#include "tokenizer/text.h"

namespace headlight {

/// Holds the tokens of a text; the vectors have the same length.
struct Encoding {
    std::vector<int> ids;
    std::vector<std::string> tokens;  // as spelled in the vocabulary
    std::vector<Span> offsets;        // in code points of the text; special tokens have the empty span [0, 0]
    std::vector<int> types;           // 0, or 1 in a second text

    void push(int id, std::string token, Span offset, int type = 0);
    void append(const Encoding& other);
    size_t size() const { return ids.size(); }
};

/// Changes the encodings of one text or two in place, and may join them into one; `special`: whether to add
/// special tokens. Fails with a sentence if the result would exceed `max` tokens.
using PostProcessor = std::function<Status(std::vector<Encoding>& texts, bool special, size_t max)>;

struct SpecialToken {
    std::string token;
    int id;
};

/// Makes the post-processor that tokenizer.json describes; null means none.
Result<PostProcessor> make_post_processor(const Json& description, const std::string& name);

/// Puts special tokens before and after each text; a second text has type 1 and no `before`, as in BERT.
PostProcessor surround(std::vector<SpecialToken> before, std::vector<SpecialToken> after);

}  // namespace headlight
