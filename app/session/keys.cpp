#include "session/keys.h"

#include <cctype>

namespace headlight {

int meant_key(int place, std::string_view name, std::string_view all) {
    const auto names_key = [](int c) { return c < 128 && std::isalnum(c); };
    if (name.size() == 1 && names_key(static_cast<unsigned char>(name[0])))
        return std::toupper(static_cast<unsigned char>(name[0]));
    if (name.empty() || !names_key(place)) return place;
    return all.find(static_cast<char>(std::tolower(place))) == std::string_view::npos ? place : -1;
}

}  // namespace headlight
