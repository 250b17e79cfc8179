// Defines the methods of texts, as Python's str has them.
#include "chat/jinja/text_methods.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/utf8.h"

namespace headlight::jinja {

namespace {

int category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }
bool is_letter(char32_t c) {
    return category(c) >= UTF8PROC_CATEGORY_LU && category(c) <= UTF8PROC_CATEGORY_LO;
}
bool is_numeric(char32_t c) {
    return category(c) >= UTF8PROC_CATEGORY_ND && category(c) <= UTF8PROC_CATEGORY_NO;
}

Value strip_by(Interpreter& run, const Given& g, bool left, bool right) {
    const Text& text = g.text(0);
    if (!g.has(1) || g[1].is<None>())
        return slice(run.budget(), text, stripped(text.bytes(), nullptr, left, right));
    const std::string_view chars = g.text(1).bytes();
    return slice(run.budget(), text, stripped(text.bytes(), &chars, left, right));
}
Value text_strip(Interpreter& run, const Given& g) { return strip_by(run, g, true, true); }
Value text_lstrip(Interpreter& run, const Given& g) { return strip_by(run, g, true, false); }
Value text_rstrip(Interpreter& run, const Given& g) { return strip_by(run, g, false, true); }

/// Splits at white space; after `most` pieces keeps the rest.
std::vector<Stretch> split_blank(std::string_view text, int64_t most) {
    std::vector<Stretch> out;
    size_t at = stripped(text, nullptr, true, false).begin;
    while (at < text.size()) {
        if (most >= 0 && static_cast<int64_t>(out.size()) == most) {
            out.push_back({at, text.size()});
            break;
        }
        size_t end = at;
        while (end < text.size() && !is_python_space(decode_utf8(text, end).value))
            end += static_cast<size_t>(decode_utf8(text, end).length);
        out.push_back({at, end});
        at = end + stripped(text.substr(end), nullptr, true, false).begin;
    }
    return out;
}

std::vector<Stretch> split_blank_from_right(std::string_view text, int64_t most) {
    std::vector<Stretch> all = split_blank(text, -1);
    if (most < 0 || static_cast<int64_t>(all.size()) <= most + 1) return all;
    const size_t kept = static_cast<size_t>(most);
    std::vector<Stretch> out = {{all[0].begin, all[all.size() - kept - 1].end}};
    out.insert(out.end(), all.end() - static_cast<std::ptrdiff_t>(kept), all.end());
    return out;
}

std::vector<Stretch> split_at(std::string_view text, std::string_view by, int64_t most, bool from_right) {
    if (by.empty()) fail("splits by an empty text");
    std::vector<Stretch> out;
    if (!from_right) {
        size_t at = 0;
        for (size_t found = text.find(by);
             found != text.npos && (most < 0 || static_cast<int64_t>(out.size()) < most);
             found = text.find(by, at)) {
            out.push_back({at, found});
            at = found + by.size();
        }
        out.push_back({at, text.size()});
        return out;
    }
    size_t end = text.size();
    while (end >= by.size() && (most < 0 || static_cast<int64_t>(out.size()) < most)) {
        const size_t found = text.rfind(by, end - by.size());
        if (found == text.npos) break;
        out.push_back({found + by.size(), end});
        end = found;
    }
    out.push_back({0, end});
    std::reverse(out.begin(), out.end());
    return out;
}

Value stretches(Interpreter& run, const Text& text, const std::vector<Stretch>& parts,
                SequenceKind kind = SequenceKind::list) {
    std::vector<Value> out;
    for (const Stretch& part : parts) out.emplace_back(slice(run.budget(), text, part));
    return make_sequence(run.budget(), std::move(out), kind);
}

Value split_by(Interpreter& run, const Given& g, bool from_right) {
    const Text& text = g.text(0);
    const int64_t most = g.whole(2, -1);
    run.budget().step(static_cast<int64_t>(text.bytes().size() / 32));
    if (!g.has(1) || g[1].is<None>())
        return stretches(
            run, text,
            from_right ? split_blank_from_right(text.bytes(), most) : split_blank(text.bytes(), most));
    return stretches(run, text, split_at(text.bytes(), g.text(1).bytes(), most, from_right));
}
Value text_split(Interpreter& run, const Given& g) { return split_by(run, g, false); }
Value text_rsplit(Interpreter& run, const Given& g) { return split_by(run, g, true); }
Value text_lines(Interpreter& run, const Given& g) {
    std::vector<Stretch> lines = lines_of(g.text(0).bytes());
    if (g.flag(1))
        for (size_t i = 0; i < lines.size(); ++i)
            lines[i].end = i + 1 < lines.size() ? lines[i + 1].begin : g.text(0).bytes().size();
    return stretches(run, g.text(0), lines);
}

Value part_at(Interpreter& run, const Text& text, size_t found, size_t length, bool from_right) {
    const size_t size = text.bytes().size();
    if (found == std::string_view::npos)
        return from_right
                   ? stretches(run, text, {{0, 0}, {0, 0}, {0, size}}, SequenceKind::tuple)
                   : stretches(run, text, {{0, size}, {size, size}, {size, size}}, SequenceKind::tuple);
    return stretches(run, text, {{0, found}, {found, found + length}, {found + length, size}},
                     SequenceKind::tuple);
}
Value text_partition(Interpreter& run, const Given& g) {
    const std::string_view by = g.text(1).bytes();
    return part_at(run, g.text(0), g.text(0).bytes().find(by), by.size(), false);
}
Value text_rpartition(Interpreter& run, const Given& g) {
    const std::string_view by = g.text(1).bytes();
    return part_at(run, g.text(0), g.text(0).bytes().rfind(by), by.size(), true);
}

/// Returns the part of a text that a method looks at: from and to are code points.
Text looked_at(Interpreter& run, const Given& g, int64_t& begin) {
    const auto size = static_cast<int64_t>(g.text(0).length());
    const auto place = [&](size_t i, int64_t fallback) {
        const int64_t at = g.whole(i, fallback);
        return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
    };
    begin = place(2, 0);
    const int64_t end = std::max(begin, place(3, size));
    return slice(
        run.budget(), g.text(0),
        {g.text(0).byte_of(static_cast<size_t>(begin)), g.text(0).byte_of(static_cast<size_t>(end))});
}

Value edge_is(Interpreter& run, const Given& g, bool front) {
    int64_t begin = 0;
    const Text text = looked_at(run, g, begin);
    const auto is = [&](const Value& edge) {
        if (!edge.text()) fail("asks " + g.of() + " for " + typed(edge));
        return front ? text.bytes().starts_with(edge.text()->bytes())
                     : text.bytes().ends_with(edge.text()->bytes());
    };
    const Sequence* several = g[1].sequence();
    if (!several || several->kind != SequenceKind::tuple) return is(g[1]);
    return std::any_of(several->items.begin(), several->items.end(), is);
}
Value text_starts(Interpreter& run, const Given& g) { return edge_is(run, g, true); }
Value text_ends(Interpreter& run, const Given& g) { return edge_is(run, g, false); }

Value found_at(Interpreter& run, const Given& g, bool from_right, bool must) {
    int64_t begin = 0;
    const Text text = looked_at(run, g, begin);
    const std::string_view wanted = g.text(1).bytes();
    const size_t found = from_right ? text.bytes().rfind(wanted) : text.bytes().find(wanted);
    if (found == std::string_view::npos && must) fail("asks for the index of a text that is not there");
    return found == std::string_view::npos ? int64_t{-1} : begin + static_cast<int64_t>(text.index_of(found));
}
Value text_find(Interpreter& run, const Given& g) { return found_at(run, g, false, false); }
Value text_rfind(Interpreter& run, const Given& g) { return found_at(run, g, true, false); }
Value text_index(Interpreter& run, const Given& g) { return found_at(run, g, false, true); }
Value text_rindex(Interpreter& run, const Given& g) { return found_at(run, g, true, true); }

Value text_count(Interpreter& run, const Given& g) {
    int64_t begin = 0, count = 0;
    const Text text = looked_at(run, g, begin);
    const std::string_view wanted = g.text(1).bytes();
    if (wanted.empty()) return static_cast<int64_t>(text.length()) + 1;
    for (size_t at = text.bytes().find(wanted); at != std::string_view::npos;
         at = text.bytes().find(wanted, at + wanted.size()))
        ++count;
    return count;
}

Value text_replace(Interpreter& run, const Given& g) {
    return replaced(run, g.text(0), g.text(1), g.text(2), g.whole(3, -1));
}
Value text_remove_prefix(Interpreter& run, const Given& g) {
    const std::string_view text = g.text(0).bytes(), edge = g.text(1).bytes();
    return slice(run.budget(), g.text(0), {text.starts_with(edge) ? edge.size() : 0, text.size()});
}
Value text_remove_suffix(Interpreter& run, const Given& g) {
    const std::string_view text = g.text(0).bytes(), edge = g.text(1).bytes();
    return slice(run.budget(), g.text(0), {0, text.size() - (text.ends_with(edge) ? edge.size() : 0)});
}

Value text_upper(Interpreter& run, const Given& g) { return in_case(run, g.text(0), Case::upper); }
Value text_lower(Interpreter& run, const Given& g) { return in_case(run, g.text(0), Case::lower); }
Value text_title(Interpreter& run, const Given& g) { return in_case(run, g.text(0), Case::title); }
Value text_swapcase(Interpreter& run, const Given& g) { return in_case(run, g.text(0), Case::swapped); }
Value text_capitalize(Interpreter& run, const Given& g) { return in_case(run, g.text(0), Case::capitalized); }

Value text_join(Interpreter& run, const Given& g) {
    TextBuilder out(run.budget());
    bool first = true;
    for (const Value& item : items_of(run.budget(), g[1])) {
        if (!item.text()) fail(std::string("joins ") + typed(item) + " as a text");
        if (!std::exchange(first, false)) out.add(g.text(0));
        out.add(*item.text());
    }
    return out.finish();
}

Value fill_to(Interpreter& run, const Given& g, char side) {
    return padded(run, g.text(0), g.whole(1, 0), g.has(2) ? g.text(2) : Text(" "), side);
}
Value text_ljust(Interpreter& run, const Given& g) { return fill_to(run, g, '<'); }
Value text_rjust(Interpreter& run, const Given& g) { return fill_to(run, g, '>'); }
Value text_center(Interpreter& run, const Given& g) { return fill_to(run, g, '^'); }
Value text_zfill(Interpreter& run, const Given& g) {
    const Text& text = g.text(0);
    const size_t sign = text.bytes().starts_with('-') || text.bytes().starts_with('+') ? 1 : 0;
    const Text digits = slice(run.budget(), text, {sign, text.bytes().size()});
    return concat(run.budget(), slice(run.budget(), text, {0, sign}),
                  padded(run, digits, g.whole(1, 0) - static_cast<int64_t>(sign), Text("0"), '>'));
}

Value text_format(Interpreter& run, const Given& g) {
    return brace_format(run, *g.call().positional[0].text(), g.call(), 1);
}

template <class Test>
bool all_characters(std::string_view text, Test test) {
    for (size_t at = 0; at < text.size();) {
        const CodePoint c = decode_utf8(text, at);
        if (!test(c.value)) return false;
        at += static_cast<size_t>(c.length);
    }
    return !text.empty();
}
Value text_isdigit(Interpreter&, const Given& g) {
    return all_characters(g.text(0).bytes(), [](char32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; });
}
Value text_isnumeric(Interpreter&, const Given& g) { return all_characters(g.text(0).bytes(), is_numeric); }
Value text_isalpha(Interpreter&, const Given& g) { return all_characters(g.text(0).bytes(), is_letter); }
Value text_isalnum(Interpreter&, const Given& g) {
    return all_characters(g.text(0).bytes(), is_alphanumeric);
}
Value text_isspace(Interpreter&, const Given& g) {
    return all_characters(g.text(0).bytes(), is_python_space);
}
Value text_isascii(Interpreter&, const Given& g) {
    return g.text(0).empty() || all_characters(g.text(0).bytes(), [](char32_t c) { return c < 0x80; });
}
bool only_case(std::string_view text, int wanted, int other) {
    const auto has = [&](int kind) {
        return !text.empty() && !all_characters(text, [&](char32_t c) { return category(c) != kind; });
    };
    return has(wanted) && !has(other) && !has(UTF8PROC_CATEGORY_LT);
}
Value text_isupper(Interpreter&, const Given& g) {
    return only_case(g.text(0).bytes(), UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LL);
}
Value text_islower(Interpreter&, const Given& g) {
    return only_case(g.text(0).bytes(), UTF8PROC_CATEGORY_LL, UTF8PROC_CATEGORY_LU);
}

constexpr FunctionRow kTextMethods[] = {
    {"capitalize", "self", 1, text_capitalize},
    {"casefold", "self", 1, text_lower},
    {"center", "self width fillchar", 2, text_center},
    {"count", "self sub start end", 2, text_count},
    {"endswith", "self suffix start end", 2, text_ends},
    {"find", "self sub start end", 2, text_find},
    {"format", nullptr, 1, text_format},
    {"index", "self sub start end", 2, text_index},
    {"isalnum", "self", 1, text_isalnum},
    {"isalpha", "self", 1, text_isalpha},
    {"isascii", "self", 1, text_isascii},
    {"isdecimal", "self", 1, text_isdigit},
    {"isdigit", "self", 1, text_isdigit},
    {"islower", "self", 1, text_islower},
    {"isnumeric", "self", 1, text_isnumeric},
    {"isspace", "self", 1, text_isspace},
    {"isupper", "self", 1, text_isupper},
    {"join", "self iterable", 2, text_join},
    {"ljust", "self width fillchar", 2, text_ljust},
    {"lower", "self", 1, text_lower},
    {"lstrip", "self chars", 1, text_lstrip},
    {"partition", "self sep", 2, text_partition},
    {"removeprefix", "self prefix", 2, text_remove_prefix},
    {"removesuffix", "self suffix", 2, text_remove_suffix},
    {"replace", "self old new count", 3, text_replace},
    {"rfind", "self sub start end", 2, text_rfind},
    {"rindex", "self sub start end", 2, text_rindex},
    {"rjust", "self width fillchar", 2, text_rjust},
    {"rpartition", "self sep", 2, text_rpartition},
    {"rsplit", "self sep maxsplit", 1, text_rsplit},
    {"rstrip", "self chars", 1, text_rstrip},
    {"split", "self sep maxsplit", 1, text_split},
    {"splitlines", "self keepends", 1, text_lines},
    {"startswith", "self prefix start end", 2, text_starts},
    {"strip", "self chars", 1, text_strip},
    {"swapcase", "self", 1, text_swapcase},
    {"title", "self", 1, text_title},
    {"upper", "self", 1, text_upper},
    {"zfill", "self width", 2, text_zfill},
};

}  // namespace

Rows text_methods() { return {std::begin(kTextMethods), std::end(kTextMethods)}; }

}  // namespace headlight::jinja
