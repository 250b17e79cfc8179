// Post-processors: special tokens around the text, and offsets without the blanks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/json.h"
#include "tokenizer/text.h"

namespace headlight {

/// Tokens of a text; the three vectors have the same length.
struct Encoding {
    std::vector<int> ids;
    std::vector<std::string> tokens;  // as the vocabulary spells them
    std::vector<Span> offsets;        // in code points of the text; special tokens have the empty span [0, 0]

    void push(int id, std::string token, Span offset);
    size_t size() const { return ids.size(); }
};

/// Changes an encoding in place; `special` says whether special tokens are wanted.
using PostProcessor = std::function<void(Encoding&, bool special)>;

/// The post-processor that tokenizer.json describes; null means none.
Result<PostProcessor> make_post_processor(const Json& description, const std::string& name);

}  // namespace headlight
