#include "chat/jinja/lexer.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/quoted.h"
#include "base/utf8.h"
#include "chat/jinja/text.h"

namespace headlight::jinja {

namespace {

constexpr size_t kMaxTokens = 400'000;

/// Makes \n of each line break, and removes one at the end.
std::string with_plain_breaks(std::string_view source) {
    std::string out;
    out.reserve(source.size());
    for (size_t i = 0; i < source.size(); ++i) {
        if (source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n') continue;
        out += source[i] == '\r' ? '\n' : source[i];
    }
    if (out.ends_with('\n')) out.pop_back();
    return out;
}

bool is_name_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c < 0;
}
bool is_digit_byte(char c) { return c >= '0' && c <= '9'; }

class TemplateLexer {
public:
    TemplateLexer(std::string_view source, int& line) : text_(with_plain_breaks(source)), line_(line) {}

    std::vector<Token> all() {
        line_ = 1;
        while (at_ < text_.size()) read_root();
        push(TokenKind::end, "");
        return std::move(out_);
    }

private:
    bool starts(std::string_view what, size_t at) const {
        return std::string_view(text_).substr(std::min(at, text_.size())).starts_with(what);
    }
    void push(TokenKind kind, std::string text) {
        if (out_.size() >= kMaxTokens) fail("has more than 400,000 tokens, which no chat template has");
        out_.push_back({kind, std::move(text), 0, 0, line_});
    }
    /// Moves on to a byte, counting lines.
    void go_to(size_t at) {
        line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                             text_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
        at_ = at;
        line_starts_ = at > 0 && text_[at - 1] == '\n';
    }
    size_t after_space(size_t at) const {
        while (at < text_.size()) {
            const CodePoint c = decode_utf8(text_, at);
            if (!is_python_space(c.value)) break;
            at += static_cast<size_t>(c.length);
        }
        return at;
    }

    /// Returns the next {%, {{ or {#, or the end.
    size_t next_mark(size_t at) const {
        for (at = text_.find('{', at); at != std::string::npos; at = text_.find('{', at + 1))
            if (at + 1 < text_.size() &&
                std::string_view("%{#").find(text_[at + 1]) != std::string_view::npos)
                return at;
        return text_.size();
    }

    /// Strips template text before a tag: all white space before "-"; blanks of its line before a block.
    std::string_view before_tag(std::string_view data, char sign, bool printed) const {
        if (sign == '-') return data.substr(0, stripped(data, nullptr, false, true).end);
        if (sign == '+' || printed) return data;
        const size_t line = data.rfind('\n') + 1;  // 0 if there is none
        if (line == 0 && !line_starts_) return data;
        const std::string_view rest = data.substr(line);
        return stripped(rest, nullptr, true, false).begin == rest.size() ? data.substr(0, line) : data;
    }
    void push_data(std::string_view data) {
        if (!data.empty()) push(TokenKind::data, std::string(data));
    }
    char sign_at(size_t at) const {
        return at < text_.size() && (text_[at] == '-' || text_[at] == '+') ? text_[at] : '\0';
    }

    /// Reads template text up to a tag, and the tag.
    void read_root() {
        const size_t mark = next_mark(at_);
        const auto data = std::string_view(text_).substr(at_, mark - at_);
        if (mark == text_.size()) {
            push_data(data);
            return go_to(mark);
        }
        const char kind = text_[mark + 1], sign = sign_at(mark + 2);
        const size_t inside = mark + 2 + (sign ? 1 : 0);
        push_data(before_tag(data, sign, kind == '{'));
        if (const size_t raw = kind == '%' ? end_of_word_tag("raw", inside, false) : 0) {
            go_to(raw);
            return read_raw();
        }
        go_to(inside);
        if (kind == '#') return skip_comment();
        push(kind == '%' ? TokenKind::block_begin : TokenKind::print_begin, "");
        read_tag(kind == '%' ? "%}" : "}}");
    }

    /// Returns the end of a tag that consists of a word, or 0; `trims`: a line break after it belongs to it.
    size_t end_of_word_tag(std::string_view word, size_t at, bool trims) const {
        at = after_space(at);
        if (!starts(word, at)) return 0;
        at = after_space(at + word.size());
        if (starts("-%}", at)) return after_space(at + 3);
        if (trims && starts("+%}", at)) return at + 3;
        if (!starts("%}", at)) return 0;
        return at + 2 + (trims && starts("\n", at + 2) ? 1 : 0);
    }

    void read_raw() {
        for (size_t mark = text_.find("{%", at_); mark != std::string::npos;
             mark = text_.find("{%", mark + 1)) {
            const char sign = sign_at(mark + 2);
            const size_t end = end_of_word_tag("endraw", mark + 2 + (sign ? 1 : 0), true);
            if (!end) continue;
            push_data(before_tag(std::string_view(text_).substr(at_, mark - at_), sign, false));
            return go_to(end);
        }
        fail("has a {% raw %} without its {% endraw %}");
    }

    void skip_comment() {
        const size_t close = text_.find("#}", at_);
        if (close == std::string::npos) fail("has a comment without its end #}");
        const char sign = close > at_ ? sign_at(close - 1) : '\0';
        const size_t end = close + 2;
        go_to(sign == '-' ? after_space(end) : end + (!sign && starts("\n", end) ? 1 : 0));
    }

    /// Reads the end of a tag if it stands here.
    bool read_end(std::string_view close) {
        const bool block = close == "%}";
        const char sign = sign_at(at_);
        const bool signed_end = starts(close, at_ + 1) && (sign == '-' || (sign == '+' && block));
        if (!signed_end && !starts(close, at_)) return false;
        push(block ? TokenKind::block_end : TokenKind::print_end, "");
        const size_t end = at_ + close.size() + (signed_end ? 1 : 0);
        if (signed_end)
            go_to(sign == '-' ? after_space(end) : end);
        else
            go_to(end + (block && starts("\n", end) ? 1 : 0));
        return true;
    }

    void read_tag(std::string_view close) {
        std::string open;  // brackets
        const int begin = line_;
        while (at_ < text_.size()) {
            if (const size_t next = after_space(at_); next > at_) {
                go_to(next);
                continue;
            }
            if (open.empty() && read_end(close)) return;
            const char c = text_[at_];
            if (is_digit_byte(c))
                read_number();
            else if (is_name_byte(c))
                read_name();
            else if (c == '\'' || c == '"')
                read_string(c);
            else
                read_sign(open);
        }
        line_ = begin;
        fail("has a tag without its end " + std::string(close));
    }

    void read_name() {
        size_t end = at_;
        while (end < text_.size() && is_name_byte(text_[end])) ++end;
        push(TokenKind::name, text_.substr(at_, end - at_));
        go_to(end);
    }

    /// Returns the end of digits, which may be grouped by "_".
    size_t after_digits(size_t at) const {
        while (at < text_.size() && (is_digit_byte(text_[at]) || (text_[at] == '_' && at + 1 < text_.size() &&
                                                                  is_digit_byte(text_[at + 1]))))
            ++at;
        return at;
    }
    bool digit_at(size_t at) const { return at < text_.size() && is_digit_byte(text_[at]); }

    /// Reads 0x1F, 0o17 or 0b101; false: the number here is decimal.
    bool read_other_base() {
        const char mark =
            at_ + 1 < text_.size() && text_[at_] == '0' ? static_cast<char>(text_[at_ + 1] | 0x20) : '\0';
        const int base = mark == 'x' ? 16 : (mark == 'o' ? 8 : (mark == 'b' ? 2 : 0));
        if (base == 0) return false;
        size_t end = at_ + 2;
        while (end < text_.size() && is_name_byte(text_[end])) ++end;
        std::string written = text_.substr(at_ + 2, end - at_ - 2);
        std::erase(written, '_');
        push(TokenKind::whole, written);
        const char* last = written.data() + written.size();
        const auto read = std::from_chars(written.data(), last, out_.back().whole, base);
        if (read.ec != std::errc() || read.ptr != last)
            fail("has the number " + in_quotes(written) + ", which has other digits than its base");
        go_to(end);
        return true;
    }

    void read_number() {
        if (read_other_base()) return;
        const bool after_point = at_ > 0 && text_[at_ - 1] == '.';
        size_t end = after_digits(at_);
        bool real = false;
        if (!after_point && starts(".", end) && digit_at(end + 1)) {
            end = after_digits(end + 1);
            real = true;
        }
        if (!after_point && end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
            const size_t digits = end + 1 + (sign_at(end + 1) ? 1 : 0);
            if (digit_at(digits)) {
                end = after_digits(digits);
                real = true;
            }
        }
        std::string written = text_.substr(at_, end - at_);
        std::erase(written, '_');
        push(real ? TokenKind::real : TokenKind::whole, written);
        Token& token = out_.back();
        const char *first = written.data(), *last = first + written.size();
        const auto read =
            real ? std::from_chars(first, last, token.real) : std::from_chars(first, last, token.whole);
        if (read.ec != std::errc()) fail("has the number " + in_quotes(written) + ", which is too large");
        go_to(end);
    }

    void read_string(char quote) {
        size_t end = at_ + 1;
        while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
        if (end >= text_.size()) fail("has a string without its end");
        push(TokenKind::text, unescaped(std::string_view(text_).substr(at_ + 1, end - at_ - 1)));
        go_to(end + 1);
    }

    static std::string unescaped(std::string_view written) {
        std::string out;
        for (size_t i = 0; i < written.size(); ++i) {
            if (written[i] != '\\' || i + 1 == written.size())
                out += written[i];
            else
                i = unescape(written, i + 1, out);
        }
        return out;
    }

    /// Appends the character of an escape whose letter stands at `at`; returns the last byte of it.
    static size_t unescape(std::string_view written, size_t at, std::string& out) {
        constexpr std::string_view letters = "abfnrtv\\'\"\n", values = "\a\b\f\n\r\t\v\\'\"";
        const char letter = written[at];
        if (const size_t row = letters.find(letter); row != letters.npos) {
            if (row < values.size()) out += values[row];
            return at;
        }
        size_t digits = letter == 'x' ? 2 : (letter == 'u' ? 4 : (letter == 'U' ? 8 : 0)), first = at + 1;
        const bool octal = letter >= '0' && letter <= '7';
        if (octal)
            for (first = at; digits < 3 && first + digits < written.size() &&
                             written[first + digits] >= '0' && written[first + digits] <= '7';)
                ++digits;
        if (digits == 0) {
            (out += '\\') += letter;
            return at;
        }
        uint32_t value = 0;
        const std::string_view number = written.substr(std::min(first, written.size()), digits);
        const auto read =
            std::from_chars(number.data(), number.data() + number.size(), value, octal ? 8 : 16);
        if (number.size() < digits || read.ptr != number.data() + number.size() || value > 0x10FFFF)
            fail("has an escape \\" + std::string(1, letter) + " without its digits");
        append_utf8(out, value >= 0xD800 && value < 0xE000 ? 0xFFFD : static_cast<char32_t>(value));
        return first + digits - 1;
    }

    void read_sign(std::string& open) {
        constexpr std::string_view signs[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                              "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                              ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};
        const auto sign = std::find_if(std::begin(signs), std::end(signs),
                                       [&](std::string_view candidate) { return starts(candidate, at_); });
        if (sign == std::end(signs)) {
            const CodePoint c = decode_utf8(text_, at_);
            fail("has the character " + in_quotes(text_.substr(at_, static_cast<size_t>(c.length))) +
                 " inside a tag");
        }
        constexpr std::string_view opening = "([{", closing = ")]}";
        if (opening.find(*sign) != opening.npos) open += *sign;
        if (const size_t kind = closing.find(*sign); kind != closing.npos) {
            if (open.empty() || open.back() != opening[kind])
                fail("has a bracket " + in_quotes(*sign) + " that closes none");
            open.pop_back();
        }
        push(TokenKind::sign, std::string(*sign));
        go_to(at_ + sign->size());
    }

    const std::string text_;
    int& line_;
    size_t at_ = 0;
    bool line_starts_ = true;
    std::vector<Token> out_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view source, int& line) { return TemplateLexer(source, line).all(); }

}  // namespace headlight::jinja
