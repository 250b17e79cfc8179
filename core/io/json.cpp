// Wraps nlohmann-json in a depth check and typed, bounded accessors.
#include "io/json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/cast.h"
#include "base/embedded.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "io/mapped_file.h"

namespace headlight {

namespace {

constexpr int kMaxDepth = 200;

int nesting_depth(std::string_view text) {
    int depth = 0, deepest = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\')
                ++i;
            else if (c == '"')
                in_string = false;
        } else if (c == '"')
            in_string = true;
        else if (c == '[' || c == '{')
            deepest = std::max(deepest, ++depth);
        else if (c == ']' || c == '}')
            --depth;
    }
    return deepest;
}

/// Explains that a text stops being JSON at byte `at`, counted from 1.
Error not_json(const std::string& name, std::string_view text, size_t at) {
    if (at > text.size()) return Error{name + " is cut off inside its JSON; save or download it again."};
    const std::string_view before = text.substr(0, at - 1), rest = text.substr(at - 1);
    const std::string line = std::to_string(1 + std::count(before.begin(), before.end(), '\n'));
    for (const char* word : {"NaN", "Infinity"})
        if (rest.starts_with(word))
            return Error{name + " holds " + word + " on line " + line +
                         ", which is not JSON; correct the file."};
    return Error{name + " is not valid JSON (line " + line + "); correct the file."};
}

/// Replaces a number that JSON cannot write by a string until the text is parsed.
struct NotFinite {
    std::string_view word, mark;
    double value;
};
constexpr NotFinite kNotFinite[] = {{"NaN", "\x01NaN\x02", NAN},
                                    {"-Infinity", "\x01-Infinity\x02", -INFINITY},
                                    {"Infinity", "\x01Infinity\x02", INFINITY}};

/// Replaces such numbers by their marks.
std::string with_marks(std::string_view text) {
    std::string out;
    bool in_string = false;
    for (size_t i = 0; i < text.size(); ++i) {
        if (in_string && text[i] == '\\') {
            out += text.substr(i++, 2);
            continue;
        }
        if (text[i] == '"') in_string = !in_string;
        const auto* number = std::find_if(std::begin(kNotFinite), std::end(kNotFinite), [&](const auto& n) {
            return !in_string && text.substr(i).starts_with(n.word);
        });
        if (number == std::end(kNotFinite)) {
            out += text.substr(i, 1);
            continue;
        }
        out += "\"\\u0001" + std::string(number->word) + "\\u0002\"";
        i += number->word.size() - 1;
    }
    return out;
}

/// Replaces the marks by the numbers.
void put_numbers(Json& value) {
    if (value.is_structured())
        for (Json& part : value) put_numbers(part);
    for (const NotFinite& n : kNotFinite)
        if (value.is_string() && value.get_ref<const std::string&>() == n.mark) value = n.value;
}

template <class Kind>
Result<Kind> parse_as(std::string_view text, const std::string& name) {
    if (text.empty()) return Error{name + " is empty; save or download it again."};
    if (nesting_depth(text) > kMaxDepth)
        return Error{name + " nests more than 200 levels deep, which no model file does; correct the file."};
    try {
        return Kind::parse(text.begin(), text.end());
    } catch (const typename Kind::parse_error& wrong) {
        return not_json(name, text, wrong.byte);
    } catch (const typename Kind::out_of_range&) {
        return Error{name + " holds a number beyond float64; correct the file."};
    }
}

}  // namespace

Result<nlohmann::ordered_json> parse_ordered_json(std::string_view text, const std::string& name) {
    return parse_as<nlohmann::ordered_json>(text, name);
}

Result<Json> parse_json(std::string_view text, const std::string& name, JsonNumbers numbers) {
    if (numbers == JsonNumbers::any &&
        (text.find("NaN") != text.npos || text.find("Infinity") != text.npos)) {
        auto value = parse_json(with_marks(text), name);
        if (value) put_numbers(*value);
        return value;
    }
    return parse_as<Json>(text, name);
}

Result<Json> read_json(const std::filesystem::path& path, JsonNumbers numbers) {
    TRY(auto file, MappedFile::open(path));
    auto value = parse_json(file->text(), display_path(path), numbers);
    TRY_STATUS(file->check_unchanged());
    return value;
}

Json embedded_json(std::string_view name) { return Json::parse(embedded_file(name)); }

namespace {

/// Escapes what the library does not: control characters beyond ASCII, and marks of text direction.
std::string without_controls(std::string json) {
    if (std::all_of(json.begin(), json.end(), [](char c) { return as_byte(c) < 0x7F; })) return json;
    std::string out;
    for (size_t at = 0; at < json.size();) {
        const CodePoint c = decode_utf8(json, at);
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c.value));
        if (c.value != '\n' && control_picture(c.value) != c.value)
            out += escape;
        else
            out.append(json, at, static_cast<size_t>(c.length));
        at += static_cast<size_t>(c.length);
    }
    return out;
}

}  // namespace

std::string json_text(const Json& value, int indent) {
    return without_controls(value.dump(indent, ' ', false, Json::error_handler_t::replace));
}

std::string json_text(const nlohmann::ordered_json& value, int indent) {
    return without_controls(value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

const Json* json_find(const Json& object, JsonKey key) {
    const auto it = object.find(key.name);
    return it == object.end() || (key.nullable && it->is_null()) ? nullptr : &*it;
}

Error wrong_type(const std::string& name, const std::string& key, const char* wanted, const Json& got) {
    // otherwise dump() writes null
    const bool finite = !got.is_number_float() || std::isfinite(got.get<double>());
    const std::string shown =
        !finite ? (std::isnan(got.get<double>()) ? "NaN" : "infinity") : shortened(json_text(got));
    return Error{name + ": " + in_quotes(key) + " must be " + wanted + ", not " + shown +
                 "; correct the file."};
}

Result<int64_t> whole_number(const Json& value, const std::string& key, int64_t low, int64_t high,
                             const std::string& name) {
    if (!value.is_number_integer()) return wrong_type(name, key, "a whole number", value);
    const bool too_big =
        value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
    const int64_t number = too_big ? INT64_MAX : value.get<int64_t>();
    if (number < low || number > high)
        return Error{name + ": " + in_quotes(key) + " is " + json_text(value) + ", outside " +
                     std::to_string(low) + " … " + std::to_string(high) + "; correct the file."};
    return number;
}

Result<int64_t> json_integer(const Json& object, JsonKey key, int64_t fallback, int64_t low, int64_t high,
                             const std::string& name) {
    const Json* value = json_find(object, key);
    if (!value) return fallback;
    return whole_number(*value, key.name, low, high, name);
}

Result<double> json_number(const Json& object, JsonKey key, double fallback, const std::string& name) {
    const Json* value = json_find(object, key);
    if (!value) return fallback;
    if (!value->is_number() || !std::isfinite(value->get<double>()))
        return wrong_type(name, key.name, "a number", *value);
    return value->get<double>();
}

Result<bool> json_boolean(const Json& object, JsonKey key, bool fallback, const std::string& name) {
    const Json* value = json_find(object, key);
    if (!value) return fallback;
    if (!value->is_boolean()) return wrong_type(name, key.name, "true or false", *value);
    return value->get<bool>();
}

Result<std::string> json_string(const Json& object, JsonKey key, const std::string& fallback,
                                const std::string& name) {
    const Json* value = json_find(object, key);
    if (!value) return fallback;
    if (!value->is_string()) return wrong_type(name, key.name, "a string", *value);
    return value->get<std::string>();
}

Result<Json> json_object(const Json& object, JsonKey key, const std::string& name) {
    const Json* value = json_find(object, key);
    if (!value) return Json(Json::object());
    if (!value->is_object()) return wrong_type(name, key.name, "an object", *value);
    return *value;
}

Result<Json> json_list(const Json& object, JsonKey key, const std::string& name) {
    const Json* value = json_find(object, key);
    if (!value) return Json(Json::array());
    if (!value->is_array()) return wrong_type(name, key.name, "a list", *value);
    return *value;
}

}  // namespace headlight
