#include "paint/explanations.h"

#include <map>
#include <unordered_map>

#include "io/json.h"

namespace headlight {

namespace {

std::map<std::string, std::string> read_rows() {
    std::map<std::string, std::string> out;
    const Json root = embedded_json("assets/explanations.json");
    for (const auto& [path, sentence] : root.items()) out[path] = sentence;
    return out;
}

const std::string* longest_beginning(const std::map<std::string, std::string>& rows, std::string path) {
    for (; !path.empty(); path.pop_back())
        if (const auto row = rows.find(path); row != rows.end()) return &row->second;
    return nullptr;
}

}  // namespace

const std::string* explanation_of(const std::string& path) {
    static const std::map<std::string, std::string> rows = read_rows();
    static std::unordered_map<std::string, const std::string*> known;  // cached
    const auto [entry, fresh] = known.try_emplace(path, nullptr);
    if (fresh) entry->second = longest_beginning(rows, path);
    return entry->second;
}

}  // namespace headlight
