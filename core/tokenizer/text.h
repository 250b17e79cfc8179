// Text on its way through a tokenizer: bytes, and for each byte the code points of the original it stands
// for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headlight {

/// [begin, end) in code points of the text a person typed.
struct Span {
    int begin = 0, end = 0;
    bool operator==(const Span&) const = default;
};

/// UTF-8 bytes, each with the original code points it came from. Both vectors have the same length.
struct AlignedText {
    std::string bytes;
    std::vector<Span> origin;

    /// The text itself: every byte of a code point stands for that whole code point.
    static AlignedText of(std::string_view text);

    AlignedText slice(size_t begin, size_t end) const;
    void append(const AlignedText& other);
    /// Puts text in front; it stands for the same code point as the first byte.
    void prepend(std::string_view prefix);
    /// The original code points covered by bytes [begin, end).
    Span covered(size_t begin, size_t end) const;
};

/// Bytes that a normalizer may make of so many, and tokens that a post-processor may: far more than any real
/// one (NFKD makes 11 bytes of one, "▁" is three), and so little that no file can fill the memory.
constexpr size_t most_normalized(size_t bytes) { return 32 * bytes + 4096; }
constexpr size_t most_processed(size_t tokens) { return 4 * tokens + 1024; }

}  // namespace headlight
