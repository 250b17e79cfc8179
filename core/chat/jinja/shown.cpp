#include "chat/jinja/shown.h"

#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/utf8.h"

namespace headlight::jinja {

std::string float_text(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
    const std::string all(buffer, end);
    const size_t e = all.find('e');
    const int exponent = std::stoi(all.substr(e + 1));
    std::string digits, sign = all[0] == '-' ? "-" : "";
    for (const char c : all.substr(0, e))
        if (c >= '0' && c <= '9') digits += c;
    if (exponent < -4 || exponent >= 16) {
        char tail[16];
        std::snprintf(tail, sizeof tail, "e%c%02d", exponent < 0 ? '-' : '+', std::abs(exponent));
        return sign + digits.substr(0, 1) + (digits.size() > 1 ? "." + digits.substr(1) : "") + tail;
    }
    if (exponent < 0) return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
    const auto whole = static_cast<size_t>(exponent) + 1;
    if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0') + ".0";
    return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

namespace {

bool is_printable(char32_t c) {
    if (c == ' ') return true;
    const int kind = utf8proc_category(static_cast<utf8proc_int32_t>(c));
    return kind != UTF8PROC_CATEGORY_CN && kind < UTF8PROC_CATEGORY_ZS;
}

void append_hex(std::string& out, const char* format, char32_t c) {
    char buffer[16];
    std::snprintf(buffer, sizeof buffer, format, static_cast<unsigned>(c));
    out += buffer;
}

/// Returns how Python and JSON both write a character; null: otherwise.
const char* shared_escape(char32_t c) {
    switch (c) {
        case '\n':
            return "\\n";
        case '\r':
            return "\\r";
        case '\t':
            return "\\t";
        case '\\':
            return "\\\\";
        default:
            return nullptr;
    }
}

/// Appends a character as it stands inside repr() between quotes `quote`.
void append_repr(char32_t c, char quote, std::string& out) {
    if (const char* escape = shared_escape(c)) {
        out += escape;
        return;
    }
    if (c == static_cast<unsigned char>(quote)) out += '\\';
    if (is_printable(c))
        append_utf8(out, c);
    else
        append_hex(out, c < 0x100 ? "\\x%02x" : (c < 0x10000 ? "\\u%04x" : "\\U%08x"), c);
}

char quote_of(std::string_view text) {
    return text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
}

void add_quoted(Budget& budget, TextBuilder& out, const Text& text) {
    const char quote = quote_of(text.bytes());
    const std::string_view mark(&quote, 1);
    if (text.markup()) out.add("Markup(", text.origin_at(0));
    out.add(mark, text.origin_at(0));
    const auto change = quote == '"' ? [](char32_t c, std::string& to) { append_repr(c, '"', to); }
                                     : [](char32_t c, std::string& to) { append_repr(c, '\'', to); };
    out.add(each_character(budget, text, change));
    out.add(mark, text.empty() ? 0 : text.origin_at(text.bytes().size() - 1));
    if (text.markup()) out.add(")", text.origin_at(0));
}

struct Brackets {
    const char *open, *close;
};

void add_items(Budget& budget, TextBuilder& out, const Value& value, const Sequence& list) {
    constexpr Brackets kinds[] = {{"[", "]"}, {"(", ")"}, {"([", "])"}};
    if (list.kind == SequenceKind::iterator) return out.add("<generator object>", value.origin);
    if (list.kind == SequenceKind::range) return out.add(list.shown, value.origin);
    const Brackets& around = kinds[static_cast<size_t>(list.kind)];
    out.add(list.shown + around.open, value.origin);
    for (size_t i = 0; i < list.items.size(); ++i) {
        if (i > 0) out.add(", ", value.origin);
        add_repr(budget, out, list.items[i]);
    }
    if (list.kind == SequenceKind::tuple && list.items.size() == 1) out.add(",", value.origin);
    out.add(around.close, value.origin);
}

void add_pairs(Budget& budget, TextBuilder& out, const Value& value, const Dict& dict) {
    out.add("{", value.origin);
    for (size_t i = 0; i < dict.items.size(); ++i) {
        if (i > 0) out.add(", ", value.origin);
        add_repr(budget, out, dict.items[i].first);
        out.add(": ", value.origin);
        add_repr(budget, out, dict.items[i].second);
    }
    out.add("}", value.origin);
}

/// Returns what printing a value without parts writes.
std::string plain_text(const Value& value) {
    if (value.is<None>()) return "None";
    if (const bool* flag = value.as<bool>()) return *flag ? "True" : "False";
    if (const int64_t* whole = value.as<int64_t>()) return std::to_string(*whole);
    if (const double* real = value.as<double>()) return float_text(*real);
    if (value.is<Undefined>()) return "";
    return std::string("<") + type_name(value) + ">";
}

}  // namespace

std::string quoted_repr(std::string_view text) {
    const char quote = quote_of(text);
    std::string out(1, quote);
    for (size_t at = 0; at < text.size();) {
        const CodePoint c = decode_utf8(text, at);
        append_repr(c.value, quote, out);
        at += static_cast<size_t>(c.length);
    }
    return out + quote;
}

void add_repr(Budget& budget, TextBuilder& out, const Value& value) {
    budget.step();
    if (const Text* text = value.text())
        add_quoted(budget, out, *text);
    else if (const Sequence* list = value.sequence())
        add_items(budget, out, value, *list);
    else if (const Dict* dict = value.dict())
        add_pairs(budget, out, value, *dict);
    else
        out.add(value.is<Undefined>() ? "Undefined" : plain_text(value), value.origin);
}

Text shown(Budget& budget, const Value& value) {
    if (const Text* text = value.text()) return *text;
    TextBuilder out(budget);
    if (value.sequence() || value.dict())
        add_repr(budget, out, value);
    else
        out.add(plain_text(value), value.origin);
    return out.finish();
}

namespace {

void append_json(char32_t c, bool ascii, std::string& out) {
    const char* escape = c == '"' ? "\\\"" : c == '\b' ? "\\b" : c == '\f' ? "\\f" : shared_escape(c);
    if (escape) {
        out += escape;
        return;
    }
    if (c < 0x20 || (ascii && c >= 0x7F && c < 0x10000)) {
        append_hex(out, "\\u%04x", c);
    } else if (ascii && c >= 0x10000) {
        append_hex(out, "\\u%04x", 0xD800 + ((c - 0x10000) >> 10));
        append_hex(out, "\\u%04x", 0xDC00 + ((c - 0x10000) & 0x3FF));
    } else {
        append_utf8(out, c);
    }
}

class JsonWriter {
public:
    JsonWriter(Budget& budget, const JsonStyle& style) : budget_(budget), style_(style), out_(budget) {}

    void add(const Value& value, size_t level) {
        budget_.step();
        if (const Text* text = value.text())
            add_string(*text);
        else if (const Dict* dict = value.dict())
            add_object(value, *dict, level);
        else if (const Sequence* list = value.sequence(); list && list->kind <= SequenceKind::tuple)
            add_list(value, *list, level);
        else
            out_.add(scalar(value), value.origin);
    }
    Text finish() { return out_.finish(); }

private:
    static std::string scalar(const Value& value) {
        if (value.is<None>()) return "null";
        if (const bool* flag = value.as<bool>()) return *flag ? "true" : "false";
        if (const double* real = value.as<double>(); real && !std::isfinite(*real))
            return std::isnan(*real) ? "NaN" : (*real < 0 ? "-Infinity" : "Infinity");
        if (is_number(value)) return plain_text(value);
        if (const auto* missing = value.as<Undefined>())
            fail("writes as JSON what is missing: " + *missing->why);
        fail(std::string("writes ") + typed(value) + " as JSON, which has none");
    }
    void add_string(const Text& text) {
        const Origin first = text.origin_at(0);
        out_.add("\"", first);
        out_.add(each_character(
            budget_, text,
            style_.ascii ? [](char32_t c, std::string& to) { append_json(c, true, to); }
                         : [](char32_t c, std::string& to) { append_json(c, false, to); }));
        out_.add("\"", text.empty() ? 0 : text.origin_at(text.bytes().size() - 1));
    }
    void new_line(size_t level, Origin origin) {
        if (!style_.indent) return;
        std::string line = "\n";
        for (size_t i = 0; i < level; ++i) line += *style_.indent;
        out_.add(line, origin);
    }
    void add_key(const Value& key) {
        if (key.text()) return add_string(*key.text());
        if (key.is<SequenceRef>()) fail("writes a tuple as a key of JSON, which has none");
        out_.add("\"" + scalar(key) + "\"", key.origin);
    }
    void add_object(const Value& value, const Dict& dict, size_t level) {
        if (dict.items.empty()) return out_.add("{}", value.origin);
        std::vector<const std::pair<Value, Value>*> rows;
        for (const auto& item : dict.items) rows.push_back(&item);
        if (style_.sorted)
            std::stable_sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) {
                return compare(budget_, a->first, b->first) < 0;
            });
        out_.add("{", value.origin);
        for (size_t i = 0; i < rows.size(); ++i) {
            if (i > 0) out_.add(style_.item_end.bytes(), value.origin);
            new_line(level + 1, value.origin);
            add_key(rows[i]->first);
            out_.add(style_.key_end.bytes(), value.origin);
            add(rows[i]->second, level + 1);
        }
        new_line(level, value.origin);
        out_.add("}", value.origin);
    }
    void add_list(const Value& value, const Sequence& list, size_t level) {
        if (list.items.empty()) return out_.add("[]", value.origin);
        out_.add("[", value.origin);
        for (size_t i = 0; i < list.items.size(); ++i) {
            if (i > 0) out_.add(style_.item_end.bytes(), value.origin);
            new_line(level + 1, value.origin);
            add(list.items[i], level + 1);
        }
        new_line(level, value.origin);
        out_.add("]", value.origin);
    }

    Budget& budget_;
    const JsonStyle& style_;
    TextBuilder out_;
};

}  // namespace

Text json_of(Budget& budget, const Value& value, const JsonStyle& style) {
    JsonWriter out(budget, style);
    out.add(value, 0);
    return out.finish();
}

}  // namespace headlight::jinja
