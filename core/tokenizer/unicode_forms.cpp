// Decomposes, reorders and composes characters with utf8proc, and tracks the origin of each.
#include "tokenizer/unicode_forms.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/cast.h"
#include "base/utf8.h"
#include "tokenizer/unicode_age.h"

namespace headlight {

namespace {

utf8proc_category_t category(char32_t c) {
    return came_later(c) ? UTF8PROC_CATEGORY_CN : utf8proc_category(c);
}

std::vector<Scalar> decompose(std::string_view text, bool compatible) {
    const auto options =
        static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0));
    std::vector<Scalar> out;
    for (size_t at = 0; at < text.size();) {
        const CodePoint c = decode_utf8(text, at);
        at += c.length;
        if (came_later(c.value)) {
            out.push_back({c.value, 0, 0});
            continue;
        }
        utf8proc_int32_t parts[32];
        int boundary = 0;
        const auto n = utf8proc_decompose_char(c.value, parts, 32, options, &boundary);
        if (n <= 0) out.push_back({c.value, 0, 0});
        for (utf8proc_ssize_t i = 0; i < std::min<utf8proc_ssize_t>(n, 32); ++i)
            out.push_back({static_cast<char32_t>(parts[i]), i ? 1 : 0,
                           utf8proc_get_property(parts[i])->combining_class});
    }
    for (auto first = out.begin(); first != out.end();) {
        if (first->combining == 0) {
            ++first;
            continue;
        }
        const auto last = std::find_if(first, out.end(), [](const Scalar& s) { return s.combining == 0; });
        std::stable_sort(first, last,
                         [](const Scalar& a, const Scalar& b) { return a.combining < b.combining; });
        first = last;
    }
    return out;
}

/// Returns the composition of two characters, or 0.
char32_t compose_pair(char32_t a, char32_t b) {
    utf8proc_int32_t pair[3] = {static_cast<utf8proc_int32_t>(a), static_cast<utf8proc_int32_t>(b), 0};
    const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
    const bool one = utf8proc_normalize_utf32(pair, 2, options) == 1;
    return one && !came_later(static_cast<char32_t>(pair[0])) ? static_cast<char32_t>(pair[0]) : 0;
}

std::vector<Scalar> compose(const std::vector<Scalar>& in) {
    std::vector<Scalar> out;
    std::ptrdiff_t starter = -1;
    for (const Scalar& s : in) {
        if (starter >= 0) {
            const bool adjacent = std::ssize(out) == starter + 1;
            const bool blocked = !adjacent && out.back().combining >= s.combining;
            Scalar& base = out[starter];
            const char32_t joined = blocked ? 0 : compose_pair(base.value, s.value);
            if (joined) {
                base.value = joined;
                base.change += s.change - 1;
                continue;
            }
        }
        if (s.combining == 0) starter = std::ssize(out);
        out.push_back(s);
    }
    return out;
}

}  // namespace

AlignedText rewrite(const AlignedText& text, const std::vector<Scalar>& scalars, int removed) {
    AlignedText out;
    std::vector<Span> characters;  // origin of each old character
    for (size_t at = 0; at < text.bytes.size(); at += decode_utf8(text.bytes, at).length)
        characters.push_back(text.origin[at]);
    size_t used = removed;
    for (const Scalar& s : scalars) {
        const size_t mine = s.change > 0 ? (used ? used - 1 : 0) : used;
        append_utf8(out.bytes, s.value);
        out.origin.resize(out.bytes.size(),
                          characters.empty() ? Span{} : characters[std::min(mine, characters.size() - 1)]);
        if (s.change <= 0) used += 1 - s.change;
    }
    return out;
}

AlignedText normalize_form(const AlignedText& text, UnicodeForm form) {
    if (std::all_of(text.bytes.begin(), text.bytes.end(), [](char c) { return as_byte(c) < 0x80; }))
        return text;
    const auto apart = decompose(text.bytes, form == UnicodeForm::nfkc || form == UnicodeForm::nfkd);
    return rewrite(text, form == UnicodeForm::nfc || form == UnicodeForm::nfkc ? compose(apart) : apart);
}

AlignedText filter(const AlignedText& text, const std::function<bool(char32_t)>& keep) {
    std::vector<Scalar> kept;
    int removed = 0, removed_first = 0;
    for (const char32_t c : code_points(text.bytes)) {
        if (!keep(c)) {
            ++removed;
            continue;
        }
        if (kept.empty())
            removed_first = removed;
        else
            kept.back().change = -removed;
        removed = 0;
        kept.push_back({c});
    }
    if (!kept.empty()) kept.back().change = -removed;
    return rewrite(text, kept, removed_first);
}

AlignedText lowercase(const AlignedText& text) {
    constexpr char32_t kDottedCapitalI = 0x130;  // the only character that always lower-cases to two
    std::vector<Scalar> out;
    for (const char32_t c : code_points(text.bytes)) {
        if (c == kDottedCapitalI) {
            out.push_back({U'i'});
            out.push_back({0x307, 1});
        } else {
            out.push_back({static_cast<char32_t>(utf8proc_tolower(c))});
        }
    }
    return rewrite(text, out);
}

std::vector<char32_t> code_points(std::string_view text) {
    std::vector<char32_t> out;
    for (size_t at = 0; at < text.size();) {
        const CodePoint c = decode_utf8(text, at);
        out.push_back(c.value);
        at += c.length;
    }
    return out;
}

bool is_mark(char32_t c) {
    return category(c) >= UTF8PROC_CATEGORY_MN && category(c) <= UTF8PROC_CATEGORY_ME;
}
bool is_nonspacing_mark(char32_t c) { return category(c) == UTF8PROC_CATEGORY_MN; }

bool is_punctuation(char32_t c) {
    constexpr std::pair<char32_t, char32_t> later[] = {
        // punctuation missing from the tokenizers' table, of Unicode 8
        {0x61D, 0x61D},     {0x9FD, 0xA76},     {0xC77, 0xC84},     {0x1B7D, 0x1B7E},
        {0x2E43, 0x2E5D},   {0x10EAD, 0x10F89}, {0x1144B, 0x1145D}, {0x11660, 0x116B9},
        {0x1183B, 0x11FFF}, {0x12FF1, 0x12FF2}, {0x16E97, 0x16FE2}, {0x1E95E, 0x1E95F}};
    constexpr char32_t once[] = {0x166D, 0x111C9};  // former punctuation
    if (contains(once, c)) return true;
    if (std::any_of(std::begin(later), std::end(later),
                    [&](const auto& r) { return c >= r.first && c <= r.second; }))
        return false;
    const bool ascii_sign =
        (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
    return ascii_sign || (category(c) >= UTF8PROC_CATEGORY_PC && category(c) <= UTF8PROC_CATEGORY_PO);
}

bool is_letter_or_digit(char32_t c) {
    const auto kind = utf8proc_category(c);
    return (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO) ||
           (kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO);
}

bool is_word_character(char32_t c) {
    constexpr std::pair<char32_t, char32_t> others[] = {// join controls; letters in circles and squares
                                                        {0x200C, 0x200D},
                                                        {0x24B6, 0x24E9},
                                                        {0x1F130, 0x1F149},
                                                        {0x1F150, 0x1F169},
                                                        {0x1F170, 0x1F189}};
    const auto k = utf8proc_category(c);
    return (k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_ME) || k == UTF8PROC_CATEGORY_ND ||
           k == UTF8PROC_CATEGORY_NL || k == UTF8PROC_CATEGORY_PC ||
           std::any_of(std::begin(others), std::end(others),
                       [&](const auto& r) { return c >= r.first && c <= r.second; });
}

}  // namespace headlight
