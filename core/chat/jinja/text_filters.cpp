// Defines the filters of texts and numbers.
#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/utf8.h"
#include "chat/jinja/interpreter.h"
#include "chat/jinja/shown.h"
#include "chat/jinja/text_methods.h"

namespace headlight::jinja {

namespace {

Value filter_upper(Interpreter& run, const Given& g) { return in_case(run, run.shown(g[0]), Case::upper); }
Value filter_lower(Interpreter& run, const Given& g) { return in_case(run, run.shown(g[0]), Case::lower); }
Value filter_capitalize(Interpreter& run, const Given& g) {
    return in_case(run, run.shown(g[0]), Case::capitalized);
}
Value filter_title(Interpreter& run, const Given& g) { return in_case(run, run.shown(g[0]), Case::words); }

Value filter_trim(Interpreter& run, const Given& g) {
    const Text text = run.shown(g[0]);
    if (!g.has(1) || g[1].is<None>())
        return slice(run.budget(), text, stripped(text.bytes(), nullptr, true, true));
    const std::string_view chars = g.text(1).bytes();
    return slice(run.budget(), text, stripped(text.bytes(), &chars, true, true));
}

Value filter_string(Interpreter& run, const Given& g) { return run.shown(g[0]); }
Value filter_safe(Interpreter& run, const Given& g) { return run.shown(g[0]).marked(true); }
Value filter_escape(Interpreter& run, const Given& g) { return escaped(run.budget(), run.shown(g[0])); }

Value filter_replace(Interpreter& run, const Given& g) {
    return replaced(run, run.shown(g[0]).marked(false), run.shown(g[1]), run.shown(g[2]), g.whole(3, -1));
}

Value filter_tojson(Interpreter& run, const Given& g) {
    JsonStyle style;
    style.ascii = g.flag(1);
    if (g.has(2) && !g[2].is<None>()) {
        style.indent =
            g[2].text() ? g[2].text()->string()
                        : std::string(static_cast<size_t>(std::clamp<int64_t>(g.whole(2, 0), 0, 100)), ' ');
        style.item_end = Text(",");
    }
    if (g.has(3) && !g[3].is<None>()) {
        const std::vector<Value> both = items_of(run.budget(), g[3]);
        if (both.size() != 2 || !both[0].text() || !both[1].text())
            fail("gives tojson other separators than two");
        style.item_end = *both[0].text();
        style.key_end = *both[1].text();
    }
    style.sorted = g.flag(4);
    return json_of(run.budget(), g[0], style);
}

Value filter_indent(Interpreter& run, const Given& g) {
    const Text text = concat(run.budget(), g.text(0), Text("\n"));  // so that its own last line break stays
    const Text margin =
        g.has(1) && g[1].text()
            ? *g[1].text()
            : Text(std::string(static_cast<size_t>(std::clamp<int64_t>(g.whole(1, 4), 0, 1000)), ' '));
    TextBuilder out(run.budget());
    const auto lines = lines_of(text.bytes());
    if (g.flag(2)) out.add(margin);
    for (size_t i = 0; i < lines.size(); ++i) {
        if (i > 0) out.add("\n", text.origin_at(lines[i].begin - 1));
        if (i > 0 && (g.flag(3) || lines[i].begin < lines[i].end)) out.add(margin);
        out.add(text, lines[i].begin, lines[i].end);
    }
    return out.finish();
}

Value filter_center(Interpreter& run, const Given& g) {
    return padded(run, run.shown(g[0]), g.whole(1, 80), Text(" "), '^');
}

Value filter_truncate(Interpreter& run, const Given& g) {
    const Text& text = g.text(0);
    const int64_t length = g.whole(1, 255), leeway = g.whole(4, 5);
    const Text end = g.has(3) ? g.text(3) : Text("...");
    const auto kept = length - static_cast<int64_t>(end.length());
    if (kept < 0 || leeway < 0) fail("truncates to less than its end");
    if (static_cast<int64_t>(text.length()) <= length + leeway) return text;
    size_t stop = text.byte_of(static_cast<size_t>(kept));
    if (!g.flag(2))
        if (const size_t blank = text.bytes().substr(0, stop).rfind(' '); blank != std::string_view::npos)
            stop = blank;
    return concat(run.budget(), slice(run.budget(), text, {0, stop}), end);
}

Value filter_wordcount(Interpreter& run, const Given& g) {
    const Text text = run.shown(g[0]);
    int64_t words = 0;
    bool inside = false;
    for (size_t at = 0; at < text.bytes().size();) {
        const CodePoint c = decode_utf8(text.bytes(), at);
        const bool word = c.value == '_' || is_alphanumeric(c.value);
        words += word && !inside ? 1 : 0;
        inside = word;
        at += static_cast<size_t>(c.length);
    }
    return words;
}

/// Reads a number as Python's float() does, without its words.
bool read_real(std::string_view text, double& out) {
    const Stretch kept = stripped(text, nullptr, true, true);
    text = text.substr(kept.begin, kept.end - kept.begin);
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    return !text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size();
}

bool read_whole(std::string_view text, int base, int64_t& out) {
    const Stretch kept = stripped(text, nullptr, true, true);
    std::string digits(text.substr(kept.begin, kept.end - kept.begin));
    const bool negative = digits.starts_with('-');
    if (negative || digits.starts_with('+')) digits.erase(0, 1);
    const char mark = base == 16 ? 'x' : (base == 8 ? 'o' : (base == 2 ? 'b' : '\0'));
    if (mark && digits.size() > 2 && digits[0] == '0' && (digits[1] | 0x20) == mark) digits.erase(0, 2);
    if (digits.starts_with('-')) return false;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), out, base);
    if (negative) out = -out;
    return !digits.empty() && read.ec == std::errc() && read.ptr == digits.data() + digits.size();
}

Value filter_int(Interpreter&, const Given& g) {
    const Value fallback = g.has(1) ? g[1] : Value(int64_t{0});
    const int64_t base = g.whole(2, 10);
    if (const auto* missing = g[0].as<Undefined>()) fail(*missing->why);
    int64_t whole = 0;
    double real = 0;
    if (const int64_t* number = integer(g[0], whole)) return *number;
    if (const Text* text = g[0].text()) {
        if (base >= 2 && base <= 36 && read_whole(text->bytes(), static_cast<int>(base), whole)) return whole;
        if (!read_real(text->bytes(), real)) return fallback;
    } else if (g[0].is<double>()) {
        real = *g[0].as<double>();
    } else {
        return fallback;
    }
    if (!std::isfinite(real)) return fallback;
    if (std::abs(real) >= 9.2e18) fail("computes a whole number beyond 64 bits");
    return static_cast<int64_t>(real);
}

Value filter_float(Interpreter&, const Given& g) {
    double real = 0;
    if (const auto* missing = g[0].as<Undefined>()) fail(*missing->why);
    if (is_number(g[0])) return number(g[0]);
    if (g[0].text() && read_real(g[0].text()->bytes(), real)) return real;
    return g.has(1) ? g[1] : Value(0.0);
}

Value filter_abs(Interpreter&, const Given& g) {
    if (!is_number(g[0])) fail(std::string("takes abs of ") + typed(g[0]));
    int64_t room = 0;
    const int64_t* whole = integer(g[0], room);
    if (!whole) return std::abs(number(g[0]));
    return *whole < 0 ? signed_value("-", *whole) : Value(*whole);
}

Value filter_round(Interpreter&, const Given& g) {
    if (!is_number(g[0])) fail(std::string("rounds ") + typed(g[0]));
    const int64_t digits = std::clamp<int64_t>(g.whole(1, 0), -300, 300);
    const std::string way = g.has(2) ? g.text(2).string() : "common";
    int64_t room = 0;
    if (const int64_t* whole = integer(g[0], room); whole && digits >= 0 && way == "common") return *whole;
    const double scale = std::pow(10.0, static_cast<double>(digits)), value = number(g[0]);
    if (way == "ceil") return std::ceil(value * scale) / scale;
    if (way == "floor") return std::floor(value * scale) / scale;
    if (way != "common") fail("rounds by a way other than common, ceil and floor");
    char buffer[400];
    if (digits < 0 || std::abs(value) > 1e15) return std::nearbyint(value * scale) / scale;
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed,
                                   static_cast<int>(std::min<int64_t>(digits, 100)));
    double out = value;
    std::from_chars(buffer, end.ptr, out);
    return out;
}

Value filter_format(Interpreter& run, const Given& g) {
    const Call& call = g.call();
    if (call.positional.empty()) fail("formats nothing");
    const Text text = run.shown(call.positional[0]);
    if (call.named.empty())
        return percent_format(
            run, text,
            make_sequence(run.budget(), {call.positional.begin() + 1, call.positional.end()},
                          SequenceKind::tuple));
    std::vector<std::pair<Value, Value>> named;
    for (const auto& [name, value] : call.named) named.emplace_back(Text(name), value);
    return percent_format(run, text, make_dict(run.budget(), std::move(named)));
}

constexpr FilterRow kTextFilters[] = {
    {"abs", "value", 1, filter_abs},
    {"capitalize", "value", 1, filter_capitalize},
    {"center", "value width", 1, filter_center},
    {"e", "value", 1, filter_escape},
    {"escape", "value", 1, filter_escape},
    {"float", "value default", 1, filter_float},
    {"forceescape", "value", 1, filter_escape},
    {"format", nullptr, 0, filter_format},
    {"indent", "s width first blank", 1, filter_indent},
    {"int", "value default base", 1, filter_int},
    {"lower", "s", 1, filter_lower},
    {"replace", "s old new count", 3, filter_replace},
    {"round", "value precision method", 1, filter_round},
    {"safe", "value", 1, filter_safe},
    {"string", "value", 1, filter_string},
    {"title", "s", 1, filter_title},
    {"tojson", "x ensure_ascii indent separators sort_keys", 1, filter_tojson},
    {"trim", "value chars", 1, filter_trim},
    {"truncate", "s length killwords end leeway", 1, filter_truncate},
    {"upper", "s", 1, filter_upper},
    {"wordcount", "s", 1, filter_wordcount},
};

}  // namespace

Rows text_filters() { return {std::begin(kTextFilters), std::end(kTextFilters)}; }

}  // namespace headlight::jinja
