// Represents text within a tokenizer: bytes, each aligned with code points of the original.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headlight {

/// [begin, end) in code points of the user's text.
struct Span {
    int begin = 0, end = 0;
    bool operator==(const Span&) const = default;
};

/// Holds UTF-8 bytes, each with the original code points it came from; vectors of the same length.
struct AlignedText {
    std::string bytes;
    std::vector<Span> origin;

    /// Aligns every byte of a text with its own code point.
    static AlignedText of(std::string_view text);

    AlignedText slice(size_t begin, size_t end) const;
    void append(const AlignedText& other);
    /// Prepends text, aligned with the code point of the first byte.
    void prepend(std::string_view prefix);
    /// Returns the original code points covered by bytes [begin, end).
    Span covered(size_t begin, size_t end) const;
};

/// Bounds the bytes that a normalizer may make of `bytes`, and the tokens of a post-processor: far more than
/// any real one needs (NFKD makes 11 bytes of one, "▁" is three), and so few that no file can exhaust memory.
constexpr size_t most_normalized(size_t bytes) { return 32 * bytes + 4096; }
constexpr size_t most_processed(size_t tokens) { return 4 * tokens + 1024; }

}  // namespace headlight
