// Applies arithmetic and slices, as Python does.
#include <algorithm>
#include <cmath>
#include <limits>

#include "chat/jinja/interpreter.h"

namespace headlight::jinja {

namespace {

[[noreturn]] void no_operation(const std::string& sign, const Value& a, const Value& b) {
    for (const Value* v : {&a, &b})
        if (const auto* missing = v->as<Undefined>()) fail(*missing->why);
    fail(std::string("applies ") + sign + " to " + typed(a) + " and " + typed(b));
}

int64_t checked(bool overflows, int64_t value) {
    if (overflows) fail("computes a whole number beyond 64 bits");
    return value;
}

int64_t floor_quotient(int64_t a, int64_t b) {
    if (b == 0) fail("divides by zero");
    if (b == -1) return checked(a == std::numeric_limits<int64_t>::min(), -a);
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
}

int64_t power_of(int64_t base, int64_t exponent) {
    int64_t out = 1;
    for (; exponent > 0 && base != 1; --exponent) {
        checked(__builtin_mul_overflow(out, base, &out), 0);
        if (base == 0 || (base == -1 && exponent % 2 == 1)) return base;
        if (base == -1) return 1;
    }
    return out;
}

Value whole_arithmetic(const std::string& sign, int64_t a, int64_t b) {
    int64_t out = 0;
    if (sign == "+") return checked(__builtin_add_overflow(a, b, &out), out), Value(out);
    if (sign == "-") return checked(__builtin_sub_overflow(a, b, &out), out), Value(out);
    if (sign == "*") return checked(__builtin_mul_overflow(a, b, &out), out), Value(out);
    if (sign == "//") return floor_quotient(a, b);
    if (sign == "%") return b == -1 ? int64_t{0} : a - floor_quotient(a, b) * b;
    if (sign == "/" && b == 0) fail("divides by zero");
    if (sign == "/") return static_cast<double>(a) / static_cast<double>(b);
    if (b < 0) return std::pow(static_cast<double>(a), static_cast<double>(b));
    return power_of(a, b);
}

Value real_arithmetic(const std::string& sign, double a, double b) {
    if (sign == "+") return a + b;
    if (sign == "-") return a - b;
    if (sign == "*") return a * b;
    if (sign == "**") return std::pow(a, b);
    if (b == 0) fail("divides by zero");
    if (sign == "/") return a / b;
    const double whole = std::floor(a / b);
    if (sign == "//") return whole;
    const double rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Value repeated(Interpreter& run, const Value& value, int64_t times) {
    times = std::max<int64_t>(times, 0);
    if (const Text* text = value.text()) {
        TextBuilder out(run.budget());
        for (; times > 0 && !text->empty(); --times) {
            run.budget().step();
            out.add(*text);
        }
        return out.finish().marked(text->markup());
    }
    std::vector<Value> items;
    for (; times > 0 && !value.sequence()->items.empty(); --times) {
        const auto& more = value.sequence()->items;
        run.budget().step(static_cast<int64_t>(more.size()));
        items.insert(items.end(), more.begin(), more.end());
        if (items.size() > 1'000'000) fail("makes a list of more than a million elements");
    }
    return make_sequence(run.budget(), std::move(items), value.sequence()->kind);
}

bool is_list(const Value& value) { return value.sequence() && value.sequence()->kind <= SequenceKind::tuple; }

/// Joins two texts; if one is markup, the other is escaped.
Value added_texts(Interpreter& run, const Text& a, const Text& b) {
    if (!a.markup() && !b.markup()) return concat(run.budget(), a, b);
    return concat(run.budget(), escaped(run.budget(), a), escaped(run.budget(), b)).marked(true);
}

}  // namespace

Value arithmetic(Interpreter& run, const std::string& sign, const Value& a, const Value& b) {
    if (is_number(a) && is_number(b)) {
        int64_t left = 0, right = 0;
        const int64_t *x = integer(a, left), *y = integer(b, right);
        return x && y ? whole_arithmetic(sign, *x, *y) : real_arithmetic(sign, number(a), number(b));
    }
    if (a.text() && sign == "%") return percent_format(run, *a.text(), b);
    if (sign == "+" && a.text() && b.text()) return added_texts(run, *a.text(), *b.text());
    if (sign == "+" && is_list(a) && is_list(b) && a.sequence()->kind == b.sequence()->kind) {
        std::vector<Value> items = a.sequence()->items;
        items.insert(items.end(), b.sequence()->items.begin(), b.sequence()->items.end());
        return make_sequence(run.budget(), std::move(items), a.sequence()->kind);
    }
    int64_t room = 0;
    if (const int64_t* times = integer(b, room); times && sign == "*" && (a.text() || is_list(a)))
        return repeated(run, a, *times);
    if (const int64_t* times = integer(a, room); times && sign == "*" && (b.text() || is_list(b)))
        return repeated(run, b, *times);
    no_operation(sign, a, b);
}

Value signed_value(const std::string& sign, const Value& value) {
    if (!is_number(value)) no_operation(sign, value, value);
    int64_t room = 0;
    const int64_t* whole = integer(value, room);
    if (sign == "+") return whole ? Value(*whole) : value;
    if (!whole) return -number(value);
    return checked(*whole == std::numeric_limits<int64_t>::min(), -*whole);
}

namespace {

struct Bounds {
    int64_t begin, end, step;
};

/// Resolves a slice of `size` elements, as Python's slice.indices() does.
Bounds bounds_of(const Value* begin, const Value* end, const Value* step, int64_t size) {
    const auto whole = [](const Value* value, int64_t fallback) {
        if (!value) return fallback;
        int64_t room = 0;
        const int64_t* number = integer(*value, room);
        if (const auto* missing = value->as<Undefined>()) fail(*missing->why);
        if (!number) fail(std::string("cuts a slice at ") + typed(*value));
        return *number;
    };
    Bounds out{0, size, whole(step, 1)};
    if (out.step == 0) fail("cuts a slice by steps of 0");
    const bool down = out.step < 0;
    const int64_t low = down ? -1 : 0, high = down ? size - 1 : size;
    const auto place = [&](const Value* value, int64_t fallback) {
        if (!value) return fallback;
        int64_t at = whole(value, 0);
        if (at < 0) at = at < -size ? low : at + size;
        return std::clamp(at, low, high);
    };
    out.begin = place(begin, down ? high : low);
    out.end = place(end, down ? low : high);
    out.step = std::clamp<int64_t>(out.step, -size - 1, size + 1);
    return out;
}

}  // namespace

Value sliced(Interpreter& run, const Value& value, const Value* begin, const Value* end, const Value* step) {
    if (const auto* missing = value.as<Undefined>()) fail(*missing->why);
    const Sequence* list = value.sequence();
    const Text* text = value.text();
    const bool can =
        text || (list && list->kind != SequenceKind::iterator && list->kind != SequenceKind::view);
    if (!can) return undefined(std::string("cuts a slice out of ") + typed(value));
    const size_t size = text ? text->length() : list->items.size();
    const Bounds b = bounds_of(begin, end, step, static_cast<int64_t>(size));
    run.budget().step(static_cast<int64_t>(size / 64));
    if (text && b.step == 1)
        return slice(run.budget(), *text,
                     {text->byte_of(static_cast<size_t>(b.begin)),
                      text->byte_of(static_cast<size_t>(std::max(b.begin, b.end)))});
    const std::vector<Value> characters = text ? items_of(run.budget(), value) : std::vector<Value>();
    const std::vector<Value>& all = text ? characters : list->items;
    std::vector<Value> picked;
    for (int64_t at = b.begin; b.step > 0 ? at < b.end : at > b.end; at += b.step)
        picked.push_back(all[static_cast<size_t>(at)]);
    if (!text)
        return make_sequence(run.budget(), std::move(picked),
                             list->kind == SequenceKind::tuple ? SequenceKind::tuple : SequenceKind::list);
    TextBuilder out(run.budget());
    for (const Value& character : picked) out.add(*character.text());
    return out.finish();
}

}  // namespace headlight::jinja
