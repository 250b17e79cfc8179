#include "gguf_writer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace headlight::fuzz {

namespace {

enum Type : uint32_t {
    u32 = 4,
    i32 = 5,
    f32 = 6,
    boolean = 7,
    string = 8,
    array = 9,
    u64 = 10,
    i64 = 11,
    f64 = 12
};

template <class T>
void put(std::string& out, T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_text(std::string& out, const std::string& text) {
    put<uint64_t>(out, text.size());
    out += text;
}

uint32_t type_of(const Json& value) {
    if (value.is_string()) return string;
    if (value.is_boolean()) return boolean;
    if (value.is_array()) return array;
    if (value.is_number_unsigned()) return value.get<uint64_t>() <= UINT32_MAX ? u32 : u64;
    if (value.is_number_integer()) return value.get<int64_t>() >= INT32_MIN ? i32 : i64;
    const double x = value.get<double>();
    return !std::isfinite(x) || std::abs(x) <= std::numeric_limits<float>::max() ? f32 : f64;
}

/// Its bits, cut to what 64 of them hold.
uint64_t whole(const Json& number) {
    if (!number.is_number_float()) return number.get<uint64_t>();
    const double x = number.get<double>();
    return std::isfinite(x) && std::abs(x) < 9e18 ? static_cast<uint64_t>(static_cast<int64_t>(x)) : 0;
}

void put_value(std::string& out, const Json& value, uint32_t type) {
    switch (type) {
        case string:
            put_text(out, value.is_string() ? value.get<std::string>() : value.dump());
            return;
        case boolean:
            put<uint8_t>(out, value.is_boolean() && value.get<bool>());
            return;
        case array: {
            const uint32_t kind =
                value.empty() || !value[0].is_primitive() || value[0].is_null() ? string : type_of(value[0]);
            put(out, kind);
            put<uint64_t>(out, value.size());
            for (const Json& v : value) put_value(out, v, kind);
            return;
        }
        default:
            break;
    }
    const Json number = value.is_number() ? value : Json(0);
    if (type == f32)
        put(out, number.get<float>());
    else if (type == f64)
        put(out, number.get<double>());
    else if (type == u32 || type == i32)
        put(out, static_cast<uint32_t>(whole(number)));
    else
        put(out, whole(number));
}

uint64_t size_in(const Json& object, const char* key) {
    const auto it = object.is_object() ? object.find(key) : object.end();
    return object.is_object() && it != object.end() && it->is_number() ? whole(*it) : 0;
}

void put_tensor(std::string& out, const std::string& name, const Json& described) {
    put_text(out, name);
    const Json shape = described.is_object() ? described.value("shape", Json()) : Json();
    const size_t dimensions = shape.is_array() ? shape.size() : 0;
    put<uint32_t>(out, static_cast<uint32_t>(dimensions));
    for (size_t d = dimensions; d > 0; --d)
        put<uint64_t>(out, shape[d - 1].is_number() ? whole(shape[d - 1]) : 0);
    put<uint32_t>(out, static_cast<uint32_t>(size_in(described, "type")));
    put<uint64_t>(out, size_in(described, "offset"));
}

}  // namespace

std::string gguf_header(const Json& metadata, const Json& tensors) {
    std::string entries, table;
    uint64_t count = 0;
    for (const auto& [key, value] : metadata.items()) {
        if (value.is_null() || value.is_object()) continue;
        put_text(entries, key);
        put<uint32_t>(entries, type_of(value));
        put_value(entries, value, type_of(value));
        ++count;
    }
    for (const auto& [name, described] : tensors.items()) put_tensor(table, name, described);
    std::string out = "GGUF";
    put<uint32_t>(out, 3);
    put<uint64_t>(out, tensors.size());
    put<uint64_t>(out, count);
    out += entries + table;
    out.resize((out.size() + 31) / 32 * 32);
    return out;
}

}  // namespace headlight::fuzz
