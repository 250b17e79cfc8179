// Reads JSON from untrusted files.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/result.h"

namespace headlight {

using Json = nlohmann::json;

/// Says which numbers a text may contain: JSON's, or also NaN, Infinity and −Infinity, as Python writes.
enum class JsonNumbers { finite, any };

/// Parses JSON text; messages call it `name`. Refuses more than 200 levels of nesting.
Result<Json> parse_json(std::string_view text, const std::string& name,
                        JsonNumbers numbers = JsonNumbers::finite);

/// Parses likewise; keeps the keys of objects in the order of the text.
Result<nlohmann::ordered_json> parse_ordered_json(std::string_view text, const std::string& name);

Result<Json> read_json(const std::filesystem::path& path, JsonNumbers numbers = JsonNumbers::finite);

/// Parses a JSON file of assets/, which the build embeds and which is trusted.
Json embedded_json(std::string_view name);

/// Writes a value, on one line or indented by `indent` spaces; replaces bytes that are not UTF-8 by U+FFFD.
std::string json_text(const Json& value, int indent = -1);
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

/// Names a key of an object. With or_null, null counts as missing; else it is an error of type.
struct JsonKey {
    const char* name;
    bool nullable = false;
    JsonKey(const char* key) : name(key) {}
    friend JsonKey or_null(const char* key);
};
inline JsonKey or_null(const char* key) {
    JsonKey out(key);
    out.nullable = true;
    return out;
}

/// Returns object[key], or null if it is missing (or null, if that is allowed).
const Json* json_find(const Json& object, JsonKey key);

/// Explains that a value has another type than `wanted` ("a whole number").
Error wrong_type(const std::string& name, const std::string& key, const char* wanted, const Json& got);

/// Reads an integer within [low, high]; messages call it `key`.
Result<int64_t> whole_number(const Json& value, const std::string& key, int64_t low, int64_t high,
                             const std::string& name);

/// Reads object[key] as an integer within [low, high], or `fallback` if the key is missing.
Result<int64_t> json_integer(const Json& object, JsonKey key, int64_t fallback, int64_t low, int64_t high,
                             const std::string& name);

/// Reads object[key] as a finite number, or `fallback`.
Result<double> json_number(const Json& object, JsonKey key, double fallback, const std::string& name);

/// Reads object[key] as a boolean, or `fallback`.
Result<bool> json_boolean(const Json& object, JsonKey key, bool fallback, const std::string& name);

/// Reads object[key] as a string, or `fallback`.
Result<std::string> json_string(const Json& object, JsonKey key, const std::string& fallback,
                                const std::string& name);

/// Read object[key] as an object or a list; an empty one if the key is missing.
Result<Json> json_object(const Json& object, JsonKey key, const std::string& name);
Result<Json> json_list(const Json& object, JsonKey key, const std::string& name);

}  // namespace headlight
