// Reads the stations' texts from assets/learn.json, which is embedded and trusted.
#include <map>

#include "io/json.h"
#include "learn/station.h"

namespace headlight::learn {

namespace {

StationText text_of(const Json& row) {
    StationText out{row.at("title"), row.at("text"), row.at("sample"), {}, row.at("controls"), {}};
    out.minutes = row.value("minutes", out.minutes);
    for (const Json& symbol : row.at("symbols"))
        out.symbols.push_back({symbol.at("sign"), symbol.at("meaning")});
    for (const Json& attempt : row.at("try"))
        out.tries.push_back({attempt.at("label"), attempt.at("command")});
    return out;
}

std::map<std::string, StationText, std::less<>> read_texts() {
    const Json root = embedded_json("assets/learn.json");
    std::map<std::string, StationText, std::less<>> texts;
    for (const auto& [key, row] : root.items()) texts.emplace(key, text_of(row));
    return texts;
}

}  // namespace

const StationText& station_text(std::string_view key) {
    static const auto texts = read_texts();
    const auto found = texts.find(key);
    HEADLIGHT_CHECK(found != texts.end());
    return found->second;
}

}  // namespace headlight::learn
