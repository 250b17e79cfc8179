#include "session/field_visitors.h"

#include "io/json.h"

namespace headlight {

template <class T>
void FieldReader::take(Result<T> found, T& value) {
    if (found)
        value = *std::move(found);
    else if (!lenient_ && status_)
        status_ = found.error();
}

void FieldReader::text(const char* key, std::string& value) {
    take(json_string(root_, key, value, name_), value);
}

void FieldReader::flag(const char* key, bool& value) { take(json_boolean(root_, key, value, name_), value); }

void FieldReader::number(const char* key, float& value, float low, float high) {
    double found = value;
    take(json_number(root_, key, found, name_), found);
    value = float(std::clamp<double>(found, low, high));
}

void FieldReader::whole(const char* key, int64_t& value, int64_t low, int64_t high) {
    take(json_integer(root_, key, value, INT64_MIN, INT64_MAX, name_), value);
    value = std::clamp(value, low, high);
}

void FieldReader::list(const char* key, std::vector<std::string>& value, size_t max) {
    const auto it = root_.find(key);
    if (it == root_.end() || !it->is_array()) return;
    value.clear();
    for (const Json& s : *it)
        if (s.is_string() && value.size() < max && s.get_ref<const std::string&>().size() <= kLongestText)
            value.push_back(s.get<std::string>());
}

void FieldReader::pairs(const char* key, std::vector<std::pair<int, int>>& value) {
    const auto it = root_.find(key);
    if (it == root_.end() || !it->is_array()) return;
    value.clear();
    const auto place = [](const Json& v) { return v.is_number_integer() && v >= -1 && v < 100'000; };
    for (const Json& pair : *it)
        if (pair.is_array() && pair.size() == 2 && place(pair[0]) && place(pair[1]) &&
            value.size() < kMaxChanges)
            value.emplace_back(pair[0].get<int>(), pair[1].get<int>());
}

void FieldReader::cell(const char* key, std::optional<std::pair<int, int>>& value) {
    std::vector<std::pair<int, int>> one;
    pairs(key, one);
    if (root_.contains(key)) value = one.empty() ? std::nullopt : std::optional(one[0]);
}

void FieldWriter::fail(std::string message) {
    if (status_) status_ = Error{std::move(message)};
}

void FieldWriter::text(const char* key, std::string& value) {
    if (value.size() > kLongestText)
        return fail("\"" + std::string(key) + "\" holds " + std::to_string(value.size()) +
                    " bytes, but a workspace holds at most 4 MB per text; shorten it.");
    root_[key] = value;
}

void FieldWriter::flag(const char* key, bool& value) { root_[key] = value; }
void FieldWriter::number(const char* key, float& value, float, float) { root_[key] = value; }
void FieldWriter::whole(const char* key, int64_t& value, int64_t, int64_t) { root_[key] = value; }

void FieldWriter::list(const char* key, std::vector<std::string>& value, size_t max) {
    if (value.size() > max)
        return fail("\"" + std::string(key) + "\" has " + std::to_string(value.size()) +
                    " entries, but a workspace holds at most " + std::to_string(max) + "; remove some.");
    root_[key] = value;
}

void FieldWriter::pairs(const char* key, std::vector<std::pair<int, int>>& value) { root_[key] = value; }

void FieldWriter::cell(const char* key, std::optional<std::pair<int, int>>& value) {
    root_[key] = value ? std::vector{*value} : std::vector<std::pair<int, int>>();
}

void FieldReporter::report(const char* key, const Json& value) { root_[key] = value; }

}  // namespace headlight
