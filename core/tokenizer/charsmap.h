// Applies SentencePiece's precompiled normalization: a double-array trie (Aoe 1989) of replacements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokenizer/text.h"

namespace headlight {

class Charsmap {
public:
    /// Parses the blob: the trie's size in bytes, the trie, then the replacements, each ended by a zero byte.
    static Result<Charsmap> parse(std::string_view blob, const std::string& name);

    struct Match {
        size_t length = 0;  // bytes of the text
        std::string_view replacement;
    };
    /// Return the shortest or the longest string of the trie that the text begins with.
    std::optional<Match> shortest(std::string_view text) const { return match(text, false); }
    std::optional<Match> longest(std::string_view text) const { return match(text, true); }

private:
    std::optional<Match> match(std::string_view text, bool longest) const;
    std::vector<uint32_t> units_;
    std::string replacements_;
};

/// Normalizes as Hugging Face's Precompiled does: by grapheme if these are short, else by character. Returns
/// nothing if the result exceeds `max` bytes.
std::optional<AlignedText> apply_precompiled(const Charsmap& map, const AlignedText& text, size_t max);

}  // namespace headlight
