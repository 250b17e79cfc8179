// Formats by % and by str.format().
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

#include "base/quoted.h"
#include "base/utf8.h"
#include "chat/jinja/interpreter.h"
#include "chat/jinja/shown.h"
#include "chat/jinja/text_methods.h"

namespace headlight::jinja {

namespace {

constexpr int64_t kWidest = 10'000;

/// Holds a field's form: [[fill]align][sign][#][0][width][,][.precision][kind].
struct Form {
    Text fill = Text(" ");
    char align = '\0', sign = '-', group = '\0', kind = '\0';
    bool other = false;  // '#'
    int64_t width = 0, precision = -1;
};

int64_t read_count(std::string_view text, size_t& at) {
    int64_t out = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
        out = out * 10 + (text[at] - '0');
        if (out > kWidest) fail("formats a field wider than 10,000 characters");
    }
    return out;
}

Form read_form(std::string_view text) {
    Form out;
    size_t at = 0;
    constexpr std::string_view aligns = "<>^=";
    const auto first = text.empty() ? size_t{0} : static_cast<size_t>(decode_utf8(text, 0).length);
    if (first > 0 && first < text.size() && aligns.find(text[first]) != aligns.npos) {
        out.fill = Text(std::string(text.substr(0, first)));
        out.align = text[first];
        at = first + 1;
    } else if (!text.empty() && aligns.find(text[0]) != aligns.npos) {
        out.align = text[at++];
    }
    const auto take = [&](std::string_view signs, char fallback) {
        return at < text.size() && signs.find(text[at]) != signs.npos ? text[at++] : fallback;
    };
    out.sign = take("+- ", '-');
    out.other = take("#", '\0') != '\0';
    if (take("0", '\0') && !out.align) {
        out.fill = Text("0");
        out.align = '=';
    }
    out.width = read_count(text, at);
    out.group = take(",_", '\0');
    if (take(".", '\0')) out.precision = read_count(text, at);
    out.kind = take("sdfFeEgGxXobcn%", '\0');
    if (at != text.size()) fail("formats by " + in_quotes(text) + ", which Headlight lacks");
    return out;
}

std::string grouped(std::string digits, char group) {
    const size_t end = std::min(digits.find_first_not_of("0123456789"), digits.size());
    for (size_t at = end; group && at > 3; at -= 3) digits.insert(at - 3, 1, group);
    return digits;
}

/// Returns the digits of a whole number without its sign.
std::string whole_digits(uint64_t value, const Form& form) {
    char buffer[70];
    const char kind = form.kind;
    const int base = kind == 'x' || kind == 'X' ? 16 : (kind == 'o' ? 8 : (kind == 'b' ? 2 : 10));
    std::string out(buffer, std::to_chars(buffer, buffer + sizeof buffer, value, base).ptr);
    if (kind == 'X')
        std::transform(out.begin(), out.end(), out.begin(), [](char c) { return c >= 'a' ? c - 32 : c; });
    out = grouped(out, form.group);
    return form.other && base != 10 ? std::string("0") + kind + out : out;
}

std::string real_digits(double value, const Form& form) {
    if (!form.kind && form.precision < 0) return grouped(float_text(value), form.group);
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return "inf";
    const auto precision = static_cast<int>(std::min<int64_t>(form.precision < 0 ? 6 : form.precision, 100));
    const std::string kind(
        1, form.kind == '%' || form.kind == 'n' || !form.kind ? (form.kind == '%' ? 'f' : 'g') : form.kind);
    char buffer[480];
    std::snprintf(buffer, sizeof buffer, ("%.*" + kind).c_str(), precision,
                  form.kind == '%' ? value * 100 : value);
    return grouped(buffer, form.group) + (form.kind == '%' ? "%" : "");
}

Text number_text(Interpreter& run, const Value& value, const Form& form) {
    int64_t room = 0;
    const int64_t* whole = integer(value, room);
    const bool real =
        !whole || (form.kind && std::string_view("fFeEgG%").find(form.kind) != std::string_view::npos);
    const bool negative = real ? std::signbit(number(value)) : *whole < 0;
    std::string digits;
    if (real)
        digits = real_digits(std::abs(number(value)), form);
    else
        digits = whole_digits(
            negative ? uint64_t{0} - static_cast<uint64_t>(*whole) : static_cast<uint64_t>(*whole), form);
    const std::string sign = negative ? "-" : (form.sign == '-' ? "" : std::string(1, form.sign));
    if (form.align != '=')
        return padded(run, Text(sign + digits, value.origin), form.width, form.fill,
                      form.align ? form.align : '>');
    const auto rest = form.width - static_cast<int64_t>(sign.size());
    return concat(run.budget(), Text(sign, value.origin),
                  padded(run, Text(digits, value.origin), rest, form.fill, '>'));
}

Text formatted(Interpreter& run, const Value& value, const Form& form) {
    const bool numeric =
        is_number(value) && !(value.is<bool>() && !form.kind) && form.kind != 's' && form.kind != 'c';
    if (numeric) return number_text(run, value, form);
    if (form.kind && form.kind != 's') fail(std::string("formats ") + typed(value) + " as a number");
    Text text = run.shown(value);
    if (form.precision >= 0 && static_cast<int64_t>(text.length()) > form.precision)
        text = slice(run.budget(), text, {0, text.byte_of(static_cast<size_t>(form.precision))});
    return padded(run, text, form.width, form.fill, form.align ? form.align : '<');
}

/// Goes through the values that a % format takes, in order or by name.
class PercentValues {
public:
    explicit PercentValues(const Value& values) : values_(values) {}
    const Value& next() {
        const Sequence* tuple = values_.sequence();
        if (!tuple || tuple->kind != SequenceKind::tuple) {
            if (used_++ > 0) fail("formats more values by % than it has");
            return values_;
        }
        if (used_ >= tuple->items.size()) fail("formats more values by % than it has");
        return tuple->items[used_++];
    }
    const Value& named(std::string_view name) {
        used_ = 1;
        const Value* found = values_.dict() ? values_.dict()->find(name) : nullptr;
        if (!found) fail("formats by % the value " + in_quotes(name) + ", which is not there");
        return *found;
    }
    void check_all_used() const {
        const Sequence* tuple = values_.sequence();
        const bool all = tuple && tuple->kind == SequenceKind::tuple ? used_ == tuple->items.size()
                                                                     : used_ > 0 || values_.dict() || tuple;
        if (!all) fail("formats fewer values by % than it has");
    }

private:
    const Value& values_;
    size_t used_ = 0;
};

/// Reads what stands between % and its letter.
Form percent_form(std::string_view text, size_t& at, PercentValues& values) {
    Form out;
    for (; at < text.size() && std::string_view("-+ 0#").find(text[at]) != std::string_view::npos; ++at) {
        if (text[at] == '-') out.align = '<';
        if (text[at] == '+' || (text[at] == ' ' && out.sign != '+')) out.sign = text[at];
        if (text[at] == '#') out.other = true;
        if (text[at] == '0' && out.align != '<') {
            out.fill = Text("0");
            out.align = '=';
        }
    }
    const auto count = [&]() -> int64_t {
        if (at >= text.size() || text[at] != '*') return read_count(text, at);
        ++at;
        int64_t room = 0;
        const int64_t* given = integer(values.next(), room);
        if (!given || *given < 0 || *given > kWidest) fail("formats a field of no usable width");
        return *given;
    };
    out.width = count();
    if (at < text.size() && text[at] == '.') {
        ++at;
        out.precision = count();
    }
    if (out.align == '<') out.fill = Text(" ");
    return out;
}

Text percent_field(Interpreter& run, const Value& value, char letter, Form form) {
    if (const auto* missing = value.as<Undefined>(); missing && letter != 's' && letter != 'r')
        fail(*missing->why);
    if (letter == 's' || letter == 'r' || letter == 'a') {
        form.kind = 's';
        form.align = form.align == '<' ? '<' : '>';
        form.fill = Text(" ");
        if (letter == 's') return formatted(run, value, form);
        TextBuilder shown(run.budget());
        add_repr(run.budget(), shown, value);
        return formatted(run, shown.finish(), form);
    }
    if (!is_number(value)) fail(std::string("formats ") + typed(value) + " as a number");
    form.kind = letter == 'i' || letter == 'u' ? 'd' : letter;
    int64_t room = 0;
    if (form.kind == 'd' && !integer(value, room)) {
        if (!(std::abs(number(value)) < 9e18)) fail("formats a number beyond 64 bits as whole");
        return number_text(run, static_cast<int64_t>(number(value)), form);
    }
    return number_text(run, value, form);
}

}  // namespace

Value percent_format(Interpreter& run, const Text& format, const Value& values) {
    TextBuilder out(run.budget());
    PercentValues given(values);
    const std::string_view text = format.bytes();
    for (size_t at = 0; at < text.size();) {
        const size_t mark = std::min(text.find('%', at), text.size());
        out.add(format, at, mark);
        at = mark + 1;
        if (mark == text.size()) break;
        run.budget().step();
        std::optional<std::string_view> name;
        if (at < text.size() && text[at] == '(') {
            const size_t end = std::min(text.find(')', at), text.size());
            name = text.substr(at + 1, end - at - 1);
            at = std::min(end + 1, text.size());
        }
        const Form form = percent_form(text, at, given);
        const char letter = at < text.size() ? text[at++] : '\0';
        if (letter == '%')
            out.add("%", format.origin_at(at - 1));
        else if (letter && std::string_view("diuoxXeEfFgGsra").find(letter) != std::string_view::npos)
            out.add(percent_field(run, name ? given.named(*name) : given.next(), letter, form));
        else
            fail("formats by % without a letter that Headlight knows");
    }
    given.check_all_used();
    return out.finish();
}

namespace {

/// Finds a value by "0", "name", "name.attribute", "0[key]"; counts on if the number is left out.
Value field_value(Interpreter& run, std::string_view path, const Call& call, size_t first,
                  size_t& automatic) {
    const size_t end = std::min(path.find_first_of(".["), path.size());
    const std::string name(path.substr(0, end));
    std::optional<Value> out;
    size_t index = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), index);
    const bool number = !name.empty() && read.ec == std::errc() && read.ptr == name.data() + name.size();
    if (name.empty()) index = automatic++;
    if ((name.empty() || number) && index < call.positional.size() - first)
        out = call.positional[first + index];
    for (const auto& [key, value] : call.named)
        if (key == name) out = value;
    if (!out) fail("formats the value " + in_quotes(path) + ", which is not there");
    for (size_t at = end; at < path.size();) {
        const bool bracket = path[at] == '[';
        const size_t stop = bracket ? std::min(path.find(']', at), path.size())
                                    : std::min(path.find_first_of(".[", at + 1), path.size());
        const std::string part(path.substr(at + 1, stop - at - 1));
        int64_t place = 0;
        const auto digits = std::from_chars(part.data(), part.data() + part.size(), place);
        const bool counted = bracket && !part.empty() && digits.ptr == part.data() + part.size();
        out = counted ? run.item(*out, place)
                      : (bracket ? run.item(*out, Text(part)) : run.attribute(*out, part));
        at = stop + (bracket ? 1 : 0);
    }
    return *out;
}

Text brace_field(Interpreter& run, std::string_view field, const Call& call, size_t first,
                 size_t& automatic) {
    const size_t colon = std::min(field.find(':'), field.size());
    std::string_view path = field.substr(0, colon);
    const std::string_view form = colon < field.size() ? field.substr(colon + 1) : std::string_view();
    char conversion = '\0';
    if (const size_t mark = path.find('!'); mark != path.npos) {
        conversion = mark + 2 == path.size() ? path[mark + 1] : '?';
        path = path.substr(0, mark);
    }
    Value value = field_value(run, path, call, first, automatic);
    if (conversion == 'r' || conversion == 'a') {
        TextBuilder shown(run.budget());
        add_repr(run.budget(), shown, value);
        value = shown.finish();
    } else if (conversion == 's') {
        value = run.shown(value);
    } else if (conversion) {
        fail("formats by a conversion other than !r, !s and !a");
    }
    return formatted(run, value, read_form(form));
}

}  // namespace

Value brace_format(Interpreter& run, const Text& format, const Call& call, size_t first) {
    TextBuilder out(run.budget());
    const std::string_view text = format.bytes();
    size_t automatic = 0;
    for (size_t at = 0; at < text.size();) {
        const size_t mark = std::min(text.find_first_of("{}", at), text.size());
        out.add(format, at, mark);
        if (mark == text.size()) break;
        run.budget().step();
        if (mark + 1 < text.size() && text[mark + 1] == text[mark]) {
            out.add(format, mark, mark + 1);
            at = mark + 2;
            continue;
        }
        const size_t end = text.find('}', mark);
        if (text[mark] == '}' || end == text.npos) fail("formats by a { or } without its other half");
        out.add(brace_field(run, text.substr(mark + 1, end - mark - 1), call, first, automatic));
        at = end + 1;
    }
    return out.finish();
}

}  // namespace headlight::jinja
