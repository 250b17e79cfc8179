// Searches and applies SentencePiece's normalization tries.
#include "tokenizer/charsmap.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstring>

#include "base/cast.h"
#include "base/utf8.h"
#include "tokenizer/unicode_forms.h"

namespace headlight {

Result<Charsmap> Charsmap::parse(std::string_view blob, const std::string& name) {
    Charsmap map;
    uint32_t size = 0;
    if (blob.size() >= 4) std::memcpy(&size, blob.data(), 4);
    if (blob.size() < 4 || size < 4 || size % 4 != 0 || size > blob.size() - 4)
        return Error{name + ": the precompiled character map is cut off; download it again."};
    map.units_.resize(size / 4);
    std::memcpy(map.units_.data(), blob.data() + 4, size);
    map.replacements_ = blob.substr(4 + size);
    return map;
}

/// Decodes a unit: a label in its low byte, an offset in bits 10 to 30 (times 256 if bit 9 is set), bit 8 set
/// if it has a value; a value unit holds 31 bits.
std::optional<Charsmap::Match> Charsmap::match(std::string_view text, bool longest) const {
    const auto offset = [](uint32_t unit) { return (unit >> 10) << ((unit & (1u << 9)) >> 6); };
    if (units_.empty()) return std::nullopt;
    std::optional<Match> found;
    uint32_t at = offset(units_[0]);
    for (size_t i = 0; i < text.size() && text[i] != 0; ++i) {
        at ^= as_byte(text[i]);
        if (at >= units_.size()) break;
        const uint32_t unit = units_[at];
        if ((unit & 0x800000FFu) != as_byte(text[i])) break;
        at ^= offset(unit);
        if (!((unit >> 8) & 1)) continue;
        if (at >= units_.size()) break;
        const uint32_t value = units_[at] & 0x7FFFFFFFu;
        if (value >= replacements_.size()) break;
        const size_t end = std::min(replacements_.find('\0', value), replacements_.size());
        found = Match{i + 1, std::string_view(replacements_).substr(value, end - value)};
        if (!longest) break;
    }
    return found;
}

namespace {

/// Inserts the replacement of a part; attributes any difference in length to its last characters.
void replace(std::vector<Scalar>& out, std::string_view old_part, std::string_view new_part) {
    const auto now = code_points(new_part);
    const int grown = isize(now) - narrow<int>(count_code_points(old_part));
    for (const char32_t c : now) out.push_back({c});
    if (grown > 0)
        for (auto it = out.rbegin(); it != out.rbegin() + grown; ++it) it->change = 1;
    else if (grown < 0 && !out.empty())
        out.back().change += grown;
}

size_t grapheme_length(std::string_view text) {
    utf8proc_int32_t state = 0;
    CodePoint c = decode_utf8(text, 0);
    size_t at = c.length;
    while (at < text.size()) {
        const CodePoint next = decode_utf8(text, at);
        if (utf8proc_grapheme_break_stateful(c.value, next.value, &state)) break;
        c = next;
        at += c.length;
    }
    return at;
}

}  // namespace

std::optional<AlignedText> apply_precompiled(const Charsmap& map, const AlignedText& text, size_t max) {
    constexpr size_t kShort = 6;
    std::vector<Scalar> out;
    std::string_view rest = text.bytes;
    size_t bytes = 0;
    const auto put = [&](std::string_view old_part, std::string_view new_part) {
        bytes += new_part.size();
        if (bytes <= max) replace(out, old_part, new_part);
    };
    while (!rest.empty() && bytes <= max) {
        const std::string_view grapheme = rest.substr(0, grapheme_length(rest));
        rest.remove_prefix(grapheme.size());
        if (grapheme.size() < kShort)
            if (const auto whole = map.shortest(grapheme)) {
                put(grapheme, whole->replacement);
                continue;
            }
        for (size_t at = 0; at < grapheme.size();) {
            const CodePoint c = decode_utf8(grapheme, at);
            const std::string_view part = grapheme.substr(at, c.length);
            if (const auto m = map.shortest(part))
                put(part, m->replacement);
            else
                out.push_back({c.value});
            at += part.size();
        }
    }
    AlignedText written = bytes <= max ? rewrite(text, out) : AlignedText{};
    if (bytes > max || written.bytes.size() > max) return std::nullopt;
    return written;
}

}  // namespace headlight
