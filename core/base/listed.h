// Words as a sentence lists them.
#pragma once

#include <string>
#include <vector>

namespace headlight {

/// "a", "a or b", "a, b or c".
inline std::string listed(const std::vector<std::string>& words, const std::string& last) {
    std::string out;
    for (size_t i = 0; i < words.size(); ++i)
        out += (i == 0 ? "" : i + 1 == words.size() ? " " + last + " " : ", ") + words[i];
    return out;
}

}  // namespace headlight
