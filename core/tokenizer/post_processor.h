// Post-processors: special tokens around the text, and offsets without the blanks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/json.h"
#include "tokenizer/text.h"

namespace headlight {

/// Tokens of a text; the vectors have the same length.
struct Encoding {
    std::vector<int> ids;
    std::vector<std::string> tokens;  // as the vocabulary spells them
    std::vector<Span> offsets;        // in code points of the text; special tokens have the empty span [0, 0]
    std::vector<int> types;           // 0, or 1 for a second text

    void push(int id, std::string token, Span offset, int type = 0);
    void append(const Encoding& other);
    size_t size() const { return ids.size(); }
};

/// Changes the encodings of one text or two in place, and may join them to one; `special` says whether
/// special tokens are wanted. Fails, with a sentence, where more than `max` tokens would come of them.
using PostProcessor = std::function<Status(std::vector<Encoding>& texts, bool special, size_t max)>;

/// A token of a fixed spelling.
struct SpecialToken {
    std::string token;
    int id;
};

/// The post-processor that tokenizer.json describes; null means none.
Result<PostProcessor> make_post_processor(const Json& description, const std::string& name);

/// Special tokens before and after each text; the second of two texts has type 1 and no `before` (BERT's
/// way).
PostProcessor surround(std::vector<SpecialToken> before, std::vector<SpecialToken> after);

}  // namespace headlight
