// Unicode normalization with alignments: canonical decomposition, reordering, composition (UAX #15),
// with the origins that Hugging Face's NormalizedString keeps.
#include "tokenizer/normalizer.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/utf8.h"

namespace headlight {

namespace {

struct Scalar {
    char32_t value;
    int change;  // +1: added by decomposition; -n: n original characters were merged into this one
    int combining;
};

std::vector<Scalar> decompose(std::string_view text) {
    std::vector<Scalar> out;
    for (size_t at = 0; at < text.size();) {
        const CodePoint c = decode_utf8(text, at);
        at += static_cast<size_t>(c.length);
        utf8proc_int32_t parts[32];
        int boundary = 0;
        const auto n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c.value), parts, 32, UTF8PROC_DECOMPOSE, &boundary);
        if (n <= 0) out.push_back({c.value, 0, 0});
        for (utf8proc_ssize_t i = 0; i < std::min<utf8proc_ssize_t>(n, 32); ++i)
            out.push_back({static_cast<char32_t>(parts[i]), i ? 1 : 0, utf8proc_get_property(parts[i])->combining_class});
    }
    for (auto first = out.begin(); first != out.end();) {
        if (first->combining == 0) {
            ++first;
            continue;
        }
        const auto last = std::find_if(first, out.end(), [](const Scalar& s) { return s.combining == 0; });
        std::stable_sort(first, last, [](const Scalar& a, const Scalar& b) { return a.combining < b.combining; });
        first = last;
    }
    return out;
}

/// The character that two compose to, or 0.
char32_t compose_pair(char32_t a, char32_t b) {
    utf8proc_int32_t pair[3] = {static_cast<utf8proc_int32_t>(a), static_cast<utf8proc_int32_t>(b), 0};
    const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
    return utf8proc_normalize_utf32(pair, 2, options) == 1 ? static_cast<char32_t>(pair[0]) : 0;
}

std::vector<Scalar> compose(const std::vector<Scalar>& in) {
    std::vector<Scalar> out;
    std::ptrdiff_t starter = -1;
    for (const Scalar& s : in) {
        if (starter >= 0) {
            const bool adjacent = static_cast<std::ptrdiff_t>(out.size()) == starter + 1;
            const bool blocked = !adjacent && out.back().combining >= s.combining;
            Scalar& base = out[static_cast<size_t>(starter)];
            const char32_t joined = blocked ? 0 : compose_pair(base.value, s.value);
            if (joined) {
                base.value = joined;
                base.change += s.change - 1;
                continue;
            }
        }
        if (s.combining == 0) starter = static_cast<std::ptrdiff_t>(out.size());
        out.push_back(s);
    }
    return out;
}

}  // namespace

AlignedText normalize_nfc(const AlignedText& text) {
    if (std::all_of(text.bytes.begin(), text.bytes.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return text;
    AlignedText out;
    std::vector<Span> characters;  // origin of each original character
    for (size_t at = 0; at < text.bytes.size(); at += static_cast<size_t>(decode_utf8(text.bytes, at).length)) characters.push_back(text.origin[at]);
    size_t used = 0;
    for (const Scalar& s : compose(decompose(text.bytes))) {
        const size_t mine = s.change > 0 ? (used ? used - 1 : 0) : used;
        append_utf8(out.bytes, s.value);
        out.origin.resize(out.bytes.size(), characters.empty() ? Span{} : characters[std::min(mine, characters.size() - 1)]);
        if (s.change <= 0) used += static_cast<size_t>(1 - s.change);
    }
    return out;
}

namespace {

struct NormalizerRow {
    const char* type;
    Result<Normalizer> (*make)(const Json&, const std::string&);
};

Result<Normalizer> make_sequence(const Json& description, const std::string& name) {
    const auto list = description.find("normalizers");
    if (list == description.end() || !list->is_array()) return Error{name + ": the normalizer sequence has no list; download it again."};
    std::vector<Normalizer> steps;
    for (const Json& d : *list) {
        TRY(Normalizer step, make_normalizer(d, name));
        if (step) steps.push_back(std::move(step));
    }
    return Normalizer([steps](AlignedText text) {
        for (const auto& step : steps) text = step(std::move(text));
        return text;
    });
}

constexpr NormalizerRow kNormalizers[] = {
    {"NFC", [](const Json&, const std::string&) -> Result<Normalizer> { return Normalizer([](AlignedText t) { return normalize_nfc(t); }); }},
    {"Sequence", make_sequence},
};

}  // namespace

Result<Normalizer> make_normalizer(const Json& description, const std::string& name) {
    if (description.is_null()) return Normalizer{};
    TRY(const std::string type, json_string(description, "type", "", name + ": normalizer"));
    for (const auto& row : kNormalizers)
        if (type == row.type) return row.make(description, name);
    return Error{name + ": the normalizer \"" + type.substr(0, 40) + "\" is not one that Headlight knows; open a model with a byte-level BPE tokenizer."};
}

}  // namespace headlight
