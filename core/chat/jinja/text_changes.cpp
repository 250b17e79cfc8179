// Changes texts, keeping where their bytes come from.
#include <utf8proc.h>

#include "base/utf8.h"
#include "chat/jinja/text_methods.h"

namespace headlight::jinja {

namespace {

int kind_of(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }
bool is_any_letter(char32_t c) {
    return kind_of(c) >= UTF8PROC_CATEGORY_LU && kind_of(c) <= UTF8PROC_CATEGORY_LO;
}
bool is_cased(char32_t c) { return kind_of(c) >= UTF8PROC_CATEGORY_LU && kind_of(c) <= UTF8PROC_CATEGORY_LT; }
bool is_digit_letter(char32_t c) {
    return kind_of(c) >= UTF8PROC_CATEGORY_ND && kind_of(c) <= UTF8PROC_CATEGORY_NO;
}

void append_upper(char32_t c, std::string& out) {
    if (c == U'ß')
        out += "SS";
    else
        append_utf8(out, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
}
void append_lower(char32_t c, std::string& out) {
    append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
}

/// Tests whether Jinja's filter title begins a word after this character.
bool begins_word_after(char32_t c) {
    return is_python_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<';
}

}  // namespace

bool is_alphanumeric(char32_t c) { return is_any_letter(c) || is_digit_letter(c); }

Text in_case(Interpreter& run, const Text& text, Case as) {
    if (as == Case::upper) return each_character(run.budget(), text, append_upper);
    if (as == Case::lower) return each_character(run.budget(), text, append_lower);
    TextBuilder out(run.budget());
    std::string changed;
    bool begins = true;
    run.budget().step(static_cast<int64_t>(text.bytes().size() / 8));
    for (size_t at = 0; at < text.bytes().size();) {
        const CodePoint c = decode_utf8(text.bytes(), at);
        changed.clear();
        const bool upper = as == Case::swapped ? kind_of(c.value) == UTF8PROC_CATEGORY_LL : begins;
        upper ? append_upper(c.value, changed) : append_lower(c.value, changed);
        out.add(changed, text.origin_at(at));
        begins = as == Case::words ? begins_word_after(c.value) : (as == Case::title && !is_cased(c.value));
        at += static_cast<size_t>(c.length);
    }
    return out.finish().marked(text.markup());
}

Text replaced(Interpreter& run, const Text& text, const Text& from, const Text& to, int64_t most) {
    const std::string_view bytes = text.bytes(), wanted = from.bytes();
    TextBuilder out(run.budget());
    size_t at = 0;
    run.budget().step(static_cast<int64_t>(bytes.size() / 64));
    for (int64_t done = 0; most < 0 || done < most; ++done) {
        run.budget().step();
        const size_t found = bytes.find(wanted, at);
        if (found == std::string_view::npos) break;
        out.add(text, at, found);
        out.add(to);
        at = found + wanted.size();
        if (!wanted.empty()) continue;
        if (at == bytes.size()) break;  // of "", one before each character and one at the end
        const size_t next = at + static_cast<size_t>(decode_utf8(bytes, at).length);
        out.add(text, at, next);
        at = next;
    }
    out.add(text, at, bytes.size());
    return out.finish().marked(text.markup());
}

std::vector<Stretch> lines_of(std::string_view text) {
    std::vector<Stretch> out;
    size_t begin = 0;
    for (size_t at = 0; at < text.size();) {
        const CodePoint c = decode_utf8(text, at);
        size_t next = at + static_cast<size_t>(c.length);
        const bool ends = (c.value >= 0x0A && c.value <= 0x0D) || (c.value >= 0x1C && c.value <= 0x1E) ||
                          c.value == 0x85 || c.value == 0x2028 || c.value == 0x2029;
        if (ends) {
            out.push_back({begin, at});
            if (c.value == '\r' && text.substr(next).starts_with('\n')) ++next;
            begin = next;
        }
        at = next;
    }
    if (begin < text.size()) out.push_back({begin, text.size()});
    return out;
}

Text padded(Interpreter& run, const Text& text, int64_t width, const Text& fill, char side) {
    const auto length = static_cast<int64_t>(text.length());
    if (width <= length) return text;
    const int64_t all = width - length;
    const int64_t left = side == '>' ? all : (side == '<' ? 0 : all / 2 + (all & width & 1));
    TextBuilder out(run.budget());
    run.budget().step(all);
    for (int64_t i = 0; i < left; ++i) out.add(fill);
    out.add(text);
    for (int64_t i = left; i < all; ++i) out.add(fill);
    return out.finish();
}

}  // namespace headlight::jinja
