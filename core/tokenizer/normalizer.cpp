// Implements normalizers, one row per type.
#include "tokenizer/normalizer.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/quoted.h"
#include "base/utf8.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/charsmap.h"
#include "tokenizer/regex.h"
#include "tokenizer/unicode_age.h"
#include "tokenizer/unicode_forms.h"

namespace headlight {

namespace {

bool is_bert_space(char32_t c) { return c == '\t' || c == '\n' || c == '\r' || is_white_space(c); }

bool is_bert_control(char32_t c) {
    if (c == '\t' || c == '\n' || c == '\r' || came_later(c)) return false;
    const auto k = utf8proc_category(c);
    return k == UTF8PROC_CATEGORY_CC || k == UTF8PROC_CATEGORY_CF || k == UTF8PROC_CATEGORY_CO ||
           k == UTF8PROC_CATEGORY_CS;
}

bool is_chinese(char32_t c) {
    constexpr std::pair<char32_t, char32_t> ranges[] = {
        {0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
        {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};
    return std::any_of(std::begin(ranges), std::end(ranges),
                       [&](const auto& r) { return c >= r.first && c <= r.second; });
}

AlignedText clean_text(const AlignedText& text) {
    const AlignedText kept =
        filter(text, [](char32_t c) { return c != 0 && c != 0xFFFD && !is_bert_control(c); });
    std::vector<Scalar> out;
    for (const char32_t c : code_points(kept.bytes)) out.push_back({is_bert_space(c) ? U' ' : c});
    return rewrite(kept, out);
}

AlignedText set_chinese_apart(const AlignedText& text) {
    std::vector<Scalar> out;
    for (const char32_t c : code_points(text.bytes)) {
        if (!is_chinese(c)) {
            out.push_back({c});
            continue;
        }
        out.push_back({U' '});
        out.push_back({c, 1});
        out.push_back({U' ', 1});
    }
    return rewrite(text, out);
}

/// Makes a step whose output is bounded per character.
Normalizer simple(std::function<AlignedText(const AlignedText&)> step) {
    return [step = std::move(step)](const AlignedText& text, size_t max) -> Result<AlignedText> {
        AlignedText out = step(text);
        if (out.bytes.size() > max) return normalized_too_long();
        return out;
    };
}

/// Replaces every match by `content`, aligned with the match's last character (if empty: the one before).
Normalizer replace_all(Regex regex, const std::string& content) {
    return [regex = std::move(regex), content](const AlignedText& text, size_t max) -> Result<AlignedText> {
        AlignedText out;
        size_t done = 0;
        bool too_long = false;
        const int start = text.origin.empty() ? 0 : text.origin.front().begin;
        const Span front{start, start};
        TRY_STATUS(regex.find_all(text.bytes, [&](size_t begin, size_t end) {
            too_long = too_long || out.bytes.size() + (begin - done) + content.size() > max;
            if (too_long) return;
            out.append(text.slice(done, begin));
            out.bytes += content;
            out.origin.resize(out.bytes.size(), end > 0 ? text.origin[end - 1] : front);
            done = end;
        }));
        if (too_long) return normalized_too_long();
        out.append(text.slice(done, text.bytes.size()));
        if (out.bytes.size() > max) return normalized_too_long();
        return out;
    };
}

/// Applies SentencePiece's nmt rules: removes control characters; white space and invisible become spaces.
AlignedText nmt(const AlignedText& text) {
    const AlignedText kept = filter(text, [](char32_t c) {
        return !((c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F ||
                 c == 0x9F);
    });
    constexpr char32_t blanks[] = {0x9,    0xA,    0xC,    0xD,    0x1680, 0x200B, 0x200C, 0x200D,
                                   0x200E, 0x200F, 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD};
    std::vector<Scalar> out;
    for (const char32_t c : code_points(kept.bytes))
        out.push_back({std::find(std::begin(blanks), std::end(blanks), c) == std::end(blanks) ? c : U' '});
    return rewrite(kept, out);
}

AlignedText strip(const AlignedText& text, bool left, bool right) {
    const auto all = code_points(text.bytes);
    const auto first = left ? std::find_if_not(all.begin(), all.end(), is_white_space) : all.begin();
    auto last = all.end();
    while (right && last != first && is_white_space(*(last - 1))) --last;
    const auto bytes_of = [&](auto from, auto to) {
        std::string s;
        std::for_each(from, to, [&](char32_t c) { append_utf8(s, c); });
        return s.size();
    };
    const size_t begin = bytes_of(all.begin(), first);
    return text.slice(begin, begin + bytes_of(first, last));
}

Result<std::string> from_base64(const std::string& text, const std::string& name) {
    std::string out;
    uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        if (c == '=') break;
        const char* letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const char* at = std::char_traits<char>::find(letters, 64, c);
        if (!at) return Error{name + ": the precompiled character map is not base64; correct the file."};
        bits = bits << 6 | static_cast<uint32_t>(at - letters);
        if ((count += 6) >= 8) out += static_cast<char>(bits >> (count -= 8) & 0xFF);
    }
    return out;
}

Result<Normalizer> make_normalizer_sequence(const Json& description, const std::string& name) {
    const auto list = description.find("normalizers");
    if (list == description.end() || !list->is_array())
        return Error{name + ": the normalizer sequence has no list; correct the file."};
    std::vector<Normalizer> steps;
    for (const Json& d : *list) {
        TRY(Normalizer step, make_normalizer(d, name));
        if (step) steps.push_back(std::move(step));
    }
    return Normalizer([steps](AlignedText text, size_t max) -> Result<AlignedText> {
        for (const auto& step : steps) {
            TRY(text, step(std::move(text), max));
        }
        return text;
    });
}

Result<Normalizer> read_bert_normalizer(const Json& d, const std::string& name) {
    TRY(const bool clean, json_boolean(d, "clean_text", true, name));
    TRY(const bool chinese, json_boolean(d, "handle_chinese_chars", true, name));
    TRY(const bool lower, json_boolean(d, "lowercase", true, name));
    TRY(const bool accents, json_boolean(d, or_null("strip_accents"), lower, name));
    return make_bert_normalizer(clean, chinese, accents, lower);
}

Result<Normalizer> make_prepend(const Json& d, const std::string& name) {
    TRY(const std::string prefix, json_string(d, "prepend", "▁", name));
    return Normalizer([prefix](AlignedText text, size_t max) -> Result<AlignedText> {
        if (text.bytes.empty()) return text;
        if (text.bytes.size() + prefix.size() > max) return normalized_too_long();
        text.prepend(prefix);
        return text;
    });
}

Result<Normalizer> make_replace(const Json& d, const std::string& name) {
    TRY(const std::string content, json_string(d, "content", "", name));
    TRY(const Regex regex, regex_of_pattern(d, name));
    return replace_all(regex, content);
}

Result<Normalizer> make_strip(const Json& d, const std::string& name) {
    TRY(const bool left, json_boolean(d, "strip_left", true, name));
    TRY(const bool right, json_boolean(d, "strip_right", true, name));
    return simple([left, right](const AlignedText& text) { return strip(text, left, right); });
}

Result<Normalizer> make_precompiled(const Json& d, const std::string& name) {
    TRY(const std::string base64, json_string(d, "precompiled_charsmap", "", name));
    if (base64.empty()) return Normalizer{};
    TRY(const std::string blob, from_base64(base64, name));
    TRY(Charsmap map, Charsmap::parse(blob, name));
    return Normalizer([map = std::make_shared<const Charsmap>(std::move(map))](
                          const AlignedText& text, size_t max) -> Result<AlignedText> {
        auto out = apply_precompiled(*map, text, max);
        return out ? std::move(*out) : Result<AlignedText>(normalized_too_long());
    });
}

template <UnicodeForm form>
Result<Normalizer> make_form(const Json&, const std::string&) {
    return simple([](const AlignedText& t) { return normalize_form(t, form); });
}

struct NormalizerRow {
    const char* type;
    Result<Normalizer> (*make)(const Json&, const std::string&);
};

constexpr NormalizerRow kNormalizers[] = {
    {"NFC", make_form<UnicodeForm::nfc>},
    {"NFD", make_form<UnicodeForm::nfd>},
    {"NFKC", make_form<UnicodeForm::nfkc>},
    {"NFKD", make_form<UnicodeForm::nfkd>},
    {"Lowercase", [](const Json&, const std::string&) -> Result<Normalizer> { return simple(lowercase); }},
    {"StripAccents",
     [](const Json&, const std::string&) -> Result<Normalizer> {
         return simple(
             [](const AlignedText& t) { return filter(t, [](char32_t c) { return !is_mark(c); }); });
     }},
    {"Nmt", [](const Json&, const std::string&) -> Result<Normalizer> { return simple(nmt); }},
    {"ByteLevel", [](const Json&, const std::string&) -> Result<Normalizer> { return simple(in_printable); }},
    {"BertNormalizer", read_bert_normalizer},
    {"Prepend", make_prepend},
    {"Replace", make_replace},
    {"Strip", make_strip},
    {"Precompiled", make_precompiled},
    {"Sequence", make_normalizer_sequence},
};

}  // namespace

Error normalized_too_long() {
    return Error{
        "the normalizer makes this text more than 32 times longer; give it a shorter text, or correct the "
        "tokenizer."};
}

Normalizer make_bert_normalizer(bool clean, bool chinese, bool strip_accents, bool lower) {
    return simple([=](AlignedText text) {
        if (clean) text = clean_text(text);
        if (chinese) text = set_chinese_apart(text);
        if (strip_accents)
            text = filter(normalize_form(text, UnicodeForm::nfd),
                          [](char32_t c) { return !is_nonspacing_mark(c); });
        return lower ? lowercase(text) : text;
    });
}

Result<Normalizer> make_normalizer(const Json& description, const std::string& name) {
    if (description.is_null()) return Normalizer{};
    if (!description.is_object()) return Error{name + ": the normalizer is not an object; correct the file."};
    TRY(const std::string type, json_string(description, "type", "", name + ": normalizer"));
    for (const auto& row : kNormalizers)
        if (type == row.type) return row.make(description, name);
    return Error{
        name + ": the normalizer " + in_quotes(type) +
        " is not one that Headlight knows; convert the tokenizer with a current version of transformers."};
}

}  // namespace headlight
