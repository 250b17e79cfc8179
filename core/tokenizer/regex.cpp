// Wraps Oniguruma with limits on recursion and backtracking.
#include "tokenizer/regex.h"

#include <oniguruma.h>

#include <mutex>

#include "base/utf8.h"

namespace headlight {

namespace {
const OnigUChar* uchars(std::string_view text) { return reinterpret_cast<const OnigUChar*>(text.data()); }

void initialize_once() {
    static std::once_flag once;
    std::call_once(once, [] {
        OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
        onig_initialize(encodings, 1);
        onig_set_parse_depth_limit(200);
        onig_set_warn_func(onig_null_warn);
        onig_set_verb_warn_func(onig_null_warn);
    });
}
}  // namespace

namespace {

/// Bounds the total backtracking of several searches. Oniguruma does not report its steps: tries each search
/// with a low limit first, which costs little, then doubles it, and subtracts what it allowed.
class BoundedSearch {
public:
    BoundedSearch() : parameters_(onig_new_match_param(), onig_free_match_param) {
        onig_set_match_stack_limit_size_of_match_param(parameters_.get(), kMaxStack);
    }

    /// Returns the start of the next match, ONIG_MISMATCH, or a negative code for every failure.
    int next(regex_t* pattern, std::string_view text, size_t at, OnigRegion* region) {
        const OnigUChar *begin = uchars(text), *end = begin + text.size();
        for (unsigned long steps = kFreeSteps;; steps *= 2) {
            onig_set_retry_limit_in_match_of_match_param(parameters_.get(), steps);
            onig_set_retry_limit_in_search_of_match_param(parameters_.get(), steps);
            const int where = onig_search_with_param(pattern, begin, end, begin + at, end, region,
                                                     ONIG_OPTION_NONE, parameters_.get());
            const bool beyond =
                where == ONIGERR_RETRY_LIMIT_IN_MATCH_OVER || where == ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER;
            if (!beyond || left_ < 2 * steps) return where;
            left_ -= 2 * steps;
        }
    }

private:
    static constexpr unsigned long kFreeSteps = 1024;
    static constexpr unsigned int kMaxStack = 4'000'000;
    unsigned long left_ = 50'000'000;
    std::unique_ptr<OnigMatchParam, void (*)(OnigMatchParam*)> parameters_;
};

}  // namespace

Result<Regex> Regex::compile(const std::string& pattern) {
    initialize_once();
    if (!is_valid_utf8(pattern)) return Error{"the pattern is not UTF-8 text"};
    regex_t* raw = nullptr;
    OnigErrorInfo info;
    const int code = onig_new(&raw, uchars(pattern), uchars(pattern) + pattern.size(), ONIG_OPTION_NONE,
                              ONIG_ENCODING_UTF8, ONIG_SYNTAX_RUBY, &info);
    if (code != ONIG_NORMAL) {
        OnigUChar message[ONIG_MAX_ERROR_MESSAGE_LEN];
        onig_error_code_to_str(message, code, &info);
        return Error{reinterpret_cast<const char*>(message)};
    }
    return Regex(std::shared_ptr<re_pattern_buffer>(raw, onig_free));
}

std::string Regex::escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (std::string_view("\\^$.|?*+()[]{}-/").find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

Result<Regex> Regex::literal(std::string_view text) { return compile(escaped(text)); }

Status Regex::find_all(std::string_view text, const std::function<void(size_t, size_t)>& found) const {
    const std::unique_ptr<OnigRegion, void (*)(OnigRegion*)> region(
        onig_region_new(), [](OnigRegion* r) { onig_region_free(r, 1); });
    BoundedSearch search;
    size_t last = std::string_view::npos;  // end of the last match
    for (size_t at = 0; !text.empty() && at <= text.size();) {
        const int where = search.next(pattern_.get(), text, at, region.get());
        if (where == ONIG_MISMATCH) break;
        if (where < 0) return Error{"a pattern needs too many steps on this text; shorten the text."};
        const size_t from = region->beg[0], to = region->end[0];
        if (to == from && to == last) {
            at += at < text.size() ? decode_utf8(text, at).length : 1;
            continue;
        }
        found(from, to);
        at = last = to;
    }
    return success();
}

Result<Regex> regex_of_pattern(const Json& d, const std::string& name) {
    const auto pattern = d.find("pattern");
    if (pattern == d.end() || !pattern->is_object())
        return Error{name + ": a pattern is missing; correct the file."};
    TRY(const std::string literal, json_string(*pattern, "String", "", name));
    TRY(const std::string expression, json_string(*pattern, "Regex", "", name));
    if (!pattern->contains("String") && !pattern->contains("Regex"))
        return Error{name + ": a pattern is neither a String nor a Regex; correct the file."};
    auto regex = pattern->contains("String") ? Regex::literal(literal) : Regex::compile(expression);
    if (!regex)
        return Error{name + ": a pattern is not a regular expression (" + regex.error().message +
                     "); correct the file."};
    return *regex;
}

}  // namespace headlight
