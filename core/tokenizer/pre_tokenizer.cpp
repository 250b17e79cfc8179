// Implements pre-tokenizers, one row per type.
#include "tokenizer/pre_tokenizer.h"

#include <utf8proc.h>

#include "base/quoted.h"
#include "base/utf8.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/regex.h"
#include "tokenizer/split.h"
#include "tokenizer/unicode_forms.h"
#include "tokenizer/unicode_scripts.h"

namespace headlight {

namespace {

constexpr std::pair<const char*, Behavior> kBehaviors[] = {
    {"Isolated", Behavior::isolated},
    {"Removed", Behavior::removed},
    {"MergedWithPrevious", Behavior::merged_with_previous},
    {"MergedWithNext", Behavior::merged_with_next},
    {"Contiguous", Behavior::contiguous}};

PreTokenizer regex_split(Regex regex, Behavior behavior, bool invert) {
    return [regex, behavior, invert](std::vector<AlignedText>& pieces) {
        return split(
            pieces, [&](std::string_view text, const auto& found) { return regex.find_all(text, found); },
            behavior, invert);
    };
}

Result<Behavior> behavior_named(const Json& d, const char* fallback, const std::string& name) {
    TRY(const std::string wanted, json_string(d, "behavior", fallback, name));
    for (const auto& [label, behavior] : kBehaviors)
        if (wanted == label) return behavior;
    return Error{name + ": the split behavior " + in_quotes(wanted) + " is unknown; correct the file."};
}

Result<PreTokenizer> make_split(const Json& d, const std::string& name) {
    TRY(const Behavior behavior, behavior_named(d, "Isolated", name));
    TRY(const bool invert, json_boolean(d, "invert", false, name));
    TRY(const Regex regex, regex_of_pattern(d, name));
    return regex_split(regex, behavior, invert);
}

/// Finds each character for which `matches` holds.
Matcher find_characters(bool (*matches)(char32_t)) {
    return [matches](std::string_view text, const std::function<void(size_t, size_t)>& found) -> Status {
        for (size_t at = 0; at < text.size();) {
            const CodePoint c = decode_utf8(text, at);
            const size_t end = at + c.length;
            if (matches(c.value)) found(at, end);
            at = end;
        }
        return success();
    };
}

PreTokenizer character_split(bool (*matches)(char32_t), Behavior behavior) {
    return [matcher = find_characters(matches), behavior](std::vector<AlignedText>& pieces) {
        return split(pieces, matcher, behavior, false);
    };
}

bool is_digit(char32_t c) {
    const auto category = utf8proc_category(c);
    return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL ||
           category == UTF8PROC_CATEGORY_NO;
}

Result<PreTokenizer> make_digits(const Json& d, const std::string& name) {
    TRY(const bool individual, json_boolean(d, "individual_digits", false, name));
    return character_split(is_digit, individual ? Behavior::isolated : Behavior::contiguous);
}

Result<PreTokenizer> make_punctuation(const Json& d, const std::string& name) {
    TRY(const Behavior behavior, behavior_named(d, "Isolated", name));
    return character_split(is_punctuation, behavior);
}

Result<PreTokenizer> make_delimiter(const Json& d, const std::string& name) {
    TRY(const std::string delimiter, json_string(d, "delimiter", " ", name));
    TRY(const Regex regex, Regex::literal(delimiter));
    return regex_split(regex, Behavior::removed, false);
}

/// Finds runs of word characters and runs of others, as Rust's \w+|[^\w\s]+ does; Oniguruma's \w differs.
Status find_words(std::string_view text, const std::function<void(size_t, size_t)>& found) {
    enum class Kind { none, blank, word, sign };
    const auto kind_of = [](char32_t c) {
        if (is_white_space(c)) return Kind::blank;
        return is_word_character(c) ? Kind::word : Kind::sign;
    };
    Kind run = Kind::none;
    size_t begin = 0;
    for (size_t at = 0; at <= text.size();) {
        const CodePoint c = at < text.size() ? decode_utf8(text, at) : CodePoint{0, 1};
        const Kind kind = at < text.size() ? kind_of(c.value) : Kind::none;
        if (kind != run) {
            if (run == Kind::word || run == Kind::sign) found(begin, at);
            begin = at;
            run = kind;
        }
        at += c.length;
    }
    return success();
}

Result<PreTokenizer> make_whitespace(const Json&, const std::string&) {
    return PreTokenizer(
        [](std::vector<AlignedText>& pieces) { return split(pieces, find_words, Behavior::removed, true); });
}

/// Cuts into pieces of a fixed number of characters.
Result<PreTokenizer> make_fixed_length(const Json& d, const std::string& name) {
    TRY(const int64_t length, json_integer(d, "length", 5, 1, 1 << 30, name));
    return PreTokenizer([length](std::vector<AlignedText>& pieces) {
        const Matcher by_length = [length](std::string_view text, const auto& found) {
            size_t begin = 0;
            int64_t count = 0;
            for (size_t at = 0; at < text.size();) {
                at += decode_utf8(text, at).length;
                if (++count % length != 0 && at < text.size()) continue;
                found(begin, at);
                begin = at;
            }
            return success();
        };
        return split(pieces, by_length, Behavior::isolated, false);
    });
}

Result<PreTokenizer> make_unicode_scripts(const Json&, const std::string&) {
    return PreTokenizer([](std::vector<AlignedText>& pieces) {
        return split(pieces, find_scripts, Behavior::removed, true);
    });
}

Result<PreTokenizer> make_metaspace_from(const Json& d, const std::string& name) {
    TRY(const std::string blank, json_string(d, "replacement", "▁", name));
    if (count_code_points(blank) != 1)
        return Error{name + ": the pre-tokenizer's replacement must be one character; correct the file."};
    TRY(const bool prefix, json_boolean(d, "add_prefix_space", true, name));
    TRY(const std::string scheme, json_string(d, "prepend_scheme", prefix ? "always" : "never", name));
    TRY(const bool cut, json_boolean(d, "split", true, name));
    for (const auto& [label, kind] :
         {std::pair{"always", Prepend::always}, {"first", Prepend::first}, {"never", Prepend::never}})
        if (scheme == label) return make_metaspace(blank, kind, cut);
    return Error{name + ": the prepend_scheme " + in_quotes(scheme) + " is unknown; correct the file."};
}

Result<PreTokenizer> make_byte_level_from(const Json& d, const std::string& name) {
    TRY(const bool prefix, json_boolean(d, "add_prefix_space", true, name));
    TRY(const bool regex, json_boolean(d, "use_regex", true, name));
    return make_byte_level(prefix, regex);
}

Result<PreTokenizer> make_pre_tokenizer_sequence(const Json& d, const std::string& name) {
    const auto list = d.find("pretokenizers");
    if (list == d.end() || !list->is_array())
        return Error{name + ": the pre-tokenizer sequence has no list; correct the file."};
    std::vector<PreTokenizer> steps;
    for (const Json& step : *list) {
        TRY(PreTokenizer made, make_pre_tokenizer(step, name));
        steps.push_back(std::move(made));
    }
    return in_sequence(std::move(steps));
}

struct PreTokenizerRow {
    const char* type;
    Result<PreTokenizer> (*make)(const Json&, const std::string&);
};

constexpr PreTokenizerRow kPreTokenizers[] = {
    {"ByteLevel", make_byte_level_from},
    {"Split", make_split},
    {"Digits", make_digits},
    {"Metaspace", make_metaspace_from},
    {"BertPreTokenizer",
     [](const Json&, const std::string&) -> Result<PreTokenizer> { return make_bert_pre_tokenizer(); }},
    {"Whitespace", make_whitespace},
    {"WhitespaceSplit",
     [](const Json&, const std::string&) -> Result<PreTokenizer> {
         return character_split(is_white_space, Behavior::removed);
     }},
    {"Punctuation", make_punctuation},
    {"UnicodeScripts", make_unicode_scripts},
    {"FixedLength", make_fixed_length},
    {"CharDelimiterSplit", make_delimiter},
    {"Sequence", make_pre_tokenizer_sequence},
};

}  // namespace

PreTokenizer in_sequence(std::vector<PreTokenizer> steps) {
    return [steps = std::move(steps)](std::vector<AlignedText>& pieces) -> Status {
        for (const auto& step : steps) TRY_STATUS(step(pieces));
        return success();
    };
}

Result<PreTokenizer> make_byte_level(bool add_prefix_space, bool use_regex) {
    TRY(const Regex regex, Regex::compile(kGpt2Pattern));
    const PreTokenizer by_regex = regex_split(regex, Behavior::isolated, false);
    return PreTokenizer([=](std::vector<AlignedText>& pieces) -> Status {
        for (AlignedText& piece : pieces)
            if (add_prefix_space && !piece.bytes.starts_with(' ')) piece.prepend(" ");
        if (use_regex) TRY_STATUS(by_regex(pieces));
        for (AlignedText& piece : pieces) piece = in_printable(piece);
        return success();
    });
}

PreTokenizer make_bert_pre_tokenizer() {
    const PreTokenizer blanks = character_split(is_white_space, Behavior::removed),
                       signs = character_split(is_punctuation, Behavior::isolated);
    return [=](std::vector<AlignedText>& pieces) -> Status {
        TRY_STATUS(blanks(pieces));
        return signs(pieces);
    };
}

Result<PreTokenizer> make_regex_splits(std::span<const char* const> patterns) {
    std::vector<PreTokenizer> steps;
    for (const char* pattern : patterns) {
        TRY(const Regex regex, Regex::compile(pattern));
        steps.push_back(regex_split(regex, Behavior::isolated, false));
    }
    return in_sequence(std::move(steps));
}

Result<PreTokenizer> make_metaspace(const std::string& blank, Prepend prepend, bool cut) {
    TRY(const Regex found, Regex::literal(blank));
    return PreTokenizer([=, at_blank = regex_split(found, Behavior::merged_with_next, false)](
                            std::vector<AlignedText>& pieces) -> Status {
        for (AlignedText& piece : pieces) {
            AlignedText replaced;
            for (size_t at = 0; at < piece.bytes.size(); ++at) {
                replaced.bytes += piece.bytes[at] == ' ' ? blank : std::string(1, piece.bytes[at]);
                replaced.origin.resize(replaced.bytes.size(), piece.origin[at]);
            }
            piece = std::move(replaced);
            const bool wanted =
                prepend == Prepend::always ||
                (prepend == Prepend::first && (piece.origin.empty() || piece.origin.front().begin == 0));
            if (wanted && !piece.bytes.starts_with(blank)) piece.prepend(blank);
        }
        return cut ? at_blank(pieces) : success();
    });
}

Result<PreTokenizer> make_pre_tokenizer(const Json& description, const std::string& name) {
    if (description.is_null()) return PreTokenizer([](std::vector<AlignedText>&) { return success(); });
    if (!description.is_object())
        return Error{name + ": the pre-tokenizer is not an object; correct the file."};
    TRY(const std::string type, json_string(description, "type", "", name + ": pre_tokenizer"));
    for (const auto& row : kPreTokenizers)
        if (type == row.type) return row.make(description, name);
    return Error{
        name + ": the pre-tokenizer " + in_quotes(type) +
        " is not one that Headlight knows; convert the tokenizer with a current version of transformers."};
}

}  // namespace headlight
