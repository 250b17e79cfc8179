// JSON from files that nobody vouches for.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/result.h"

namespace headlight {

using Json = nlohmann::json;

/// Parses JSON text; `name` is what messages call it. Refuses more than 200 levels of nesting, duplicate-free or not.
Result<Json> parse_json(std::string_view text, const std::string& name);

/// Reads and parses a JSON file.
Result<Json> read_json(const std::filesystem::path& path);

/// object[key] as an integer within [low, high], or `fallback` where the key is missing or null.
Result<int64_t> json_integer(const Json& object, const char* key, int64_t fallback, int64_t low, int64_t high, const std::string& name);

/// object[key] as a finite number, or `fallback`.
Result<double> json_number(const Json& object, const char* key, double fallback, const std::string& name);

/// object[key] as a boolean, or `fallback`.
Result<bool> json_boolean(const Json& object, const char* key, bool fallback, const std::string& name);

/// object[key] as a string, or `fallback`.
Result<std::string> json_string(const Json& object, const char* key, const std::string& fallback, const std::string& name);

}  // namespace headlight
