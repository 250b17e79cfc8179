// Parses the words after a command's name.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "base/cast.h"
#include "base/utf8.h"

namespace headlight {

/// "16,10" → {16, 10}; none for anything else.
inline std::optional<std::pair<int, int>> pair_of(const std::string& words) {
    int first = 0, second = 0, used = 0;
    const bool read =
        std::sscanf(words.c_str(), "%d,%d%n", &first, &second, &used) == 2 && used == isize(words);
    return read ? std::optional(std::pair{first, second}) : std::nullopt;
}

/// "0.8" → 0.8; none for anything else.
inline std::optional<double> decimal_of(const std::string& words) {
    double number = 0;
    int used = 0;
    const bool read = std::sscanf(words.c_str(), "%lf%n", &number, &used) == 1 && used == isize(words);
    return read ? std::optional(number) : std::nullopt;
}

/// "262" → 262; none for anything else.
inline std::optional<int> whole_of(const std::string& words) {
    int number = 0, used = 0;
    const bool read = std::sscanf(words.c_str(), "%d%n", &number, &used) == 1 && used == isize(words);
    return read ? std::optional(number) : std::nullopt;
}

}  // namespace headlight
