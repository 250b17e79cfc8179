// nlohmann-json behind a depth check and typed, bounded accessors.
#include "io/json.h"

#include <cmath>

#include "base/quoted.h"
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
            if (c == '\\') ++i;
            else if (c == '"') in_string = false;
        } else if (c == '"') in_string = true;
        else if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
        else if (c == ']' || c == '}') --depth;
    }
    return deepest;
}

const Json* find(const Json& object, const char* key) {
    const auto it = object.find(key);
    return it == object.end() || it->is_null() ? nullptr : &*it;
}

Error wrong_type(const std::string& name, const char* key, const char* wanted, const Json& got) {
    return Error{name + ": \"" + key + "\" must be " + wanted + ", not " + shortened(got.dump(-1, ' ', false, Json::error_handler_t::replace)) + "; correct the file or download it again."};
}

}  // namespace

Result<Json> parse_json(std::string_view text, const std::string& name) {
    if (text.empty()) return Error{name + " is empty; download it again."};
    if (nesting_depth(text) > kMaxDepth) return Error{name + " nests more than 200 levels deep, which no model file does; download it again."};
    Json value = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
    if (value.is_discarded()) return Error{name + " is not valid JSON (cut off or damaged); download it again."};
    return value;
}

Result<Json> read_json(const std::filesystem::path& path) {
    TRY(auto file, MappedFile::open(path));
    auto value = parse_json(file->text(), display_path(path));
    TRY_STATUS(file->check_unchanged());
    return value;
}

Result<int64_t> json_integer(const Json& object, const char* key, int64_t fallback, int64_t low, int64_t high, const std::string& name) {
    const Json* value = find(object, key);
    if (!value) return fallback;
    if (!value->is_number_integer()) return wrong_type(name, key, "a whole number", *value);
    const bool too_big = value->is_number_unsigned() && value->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
    const int64_t number = too_big ? INT64_MAX : value->get<int64_t>();
    if (number < low || number > high)
        return Error{name + ": \"" + key + "\" is " + value->dump() + ", outside " + std::to_string(low) + " … " + std::to_string(high) +
                     "; correct the file or download it again."};
    return number;
}

Result<double> json_number(const Json& object, const char* key, double fallback, const std::string& name) {
    const Json* value = find(object, key);
    if (!value) return fallback;
    if (!value->is_number() || !std::isfinite(value->get<double>())) return wrong_type(name, key, "a number", *value);
    return value->get<double>();
}

Result<bool> json_boolean(const Json& object, const char* key, bool fallback, const std::string& name) {
    const Json* value = find(object, key);
    if (!value) return fallback;
    if (!value->is_boolean()) return wrong_type(name, key, "true or false", *value);
    return value->get<bool>();
}

Result<std::string> json_string(const Json& object, const char* key, const std::string& fallback, const std::string& name) {
    const Json* value = find(object, key);
    if (!value) return fallback;
    if (!value->is_string()) return wrong_type(name, key, "a string", *value);
    return value->get<std::string>();
}

}  // namespace headlight
