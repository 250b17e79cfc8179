// Aligns bytes with the original text.
#include "tokenizer/text.h"

#include "base/utf8.h"

namespace headlight {

AlignedText AlignedText::of(std::string_view text) {
    AlignedText out{std::string(text), {}};
    out.origin.reserve(text.size());
    int index = 0;
    for (size_t at = 0; at < text.size(); ++index) {
        const int length = decode_utf8(text, at).length;
        out.origin.insert(out.origin.end(), length, Span{index, index + 1});
        at += length;
    }
    return out;
}

AlignedText AlignedText::slice(size_t begin, size_t end) const {
    const auto from = origin.begin() + begin, to = origin.begin() + end;
    return {bytes.substr(begin, end - begin), {from, to}};
}

void AlignedText::append(const AlignedText& other) {
    bytes += other.bytes;
    origin.insert(origin.end(), other.origin.begin(), other.origin.end());
}

void AlignedText::prepend(std::string_view prefix) {
    const Span first = origin.empty() ? Span{} : origin.front();
    bytes.insert(0, prefix);
    origin.insert(origin.begin(), prefix.size(), first);
}

Span AlignedText::covered(size_t begin, size_t end) const {
    if (begin >= end) return {};
    return {origin[begin].begin, origin[end - 1].end};
}

}  // namespace headlight
