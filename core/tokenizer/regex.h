// Matches regular expressions in the dialect of Hugging Face tokenizers (Oniguruma, Ruby syntax, UTF-8).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/json.h"

struct re_pattern_buffer;

namespace headlight {

class Regex {
public:
    static Result<Regex> compile(const std::string& pattern);
    static Result<Regex> literal(std::string_view text);
    static std::string escaped(std::string_view text);

    /// Calls found(begin, end) for each match from left to right, in bytes; an empty text has none, and no
    /// empty match begins where another match ended. Fails, with a sentence for the user, if matching needs
    /// more steps or memory than any honest pattern does.
    Status find_all(std::string_view text, const std::function<void(size_t, size_t)>& found) const;

private:
    explicit Regex(std::shared_ptr<re_pattern_buffer> pattern) : pattern_(std::move(pattern)) {}
    std::shared_ptr<re_pattern_buffer> pattern_;
};

/// Compiles a "pattern" of tokenizer.json: {"Regex": …} or {"String": …}.
Result<Regex> regex_of_pattern(const Json& description, const std::string& name);

}  // namespace headlight
