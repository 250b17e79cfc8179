// Finds the longest of many spellings that a text begins with.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "base/cast.h"

namespace headlight {

/// Looks up once per length of the spellings with the text's first byte, however many there are.
template <class T>
class PrefixTable {
public:
    using Entry = std::pair<const std::string, T>;

    /// Adds a spelling; the first of equal ones counts, an empty one never.
    void add(const std::string& spelling, const T& value) {
        if (spelling.empty()) return;
        by_first_byte_[as_byte(spelling[0])][spelling.size()].emplace(spelling, value);
        any_ = true;
    }

    const Entry* longest(std::string_view text) const {
        if (text.empty()) return nullptr;
        for (const auto& [length, spellings] : by_first_byte_[as_byte(text[0])]) {
            if (length > text.size()) continue;
            const auto it = spellings.find(text.substr(0, length));
            if (it != spellings.end()) return &*it;
        }
        return nullptr;
    }

    bool empty() const { return !any_; }

private:
    using ByLength = std::map<size_t, std::map<std::string, T, std::less<>>, std::greater<>>;
    std::array<ByLength, 256> by_first_byte_;
    bool any_ = false;
};

}  // namespace headlight
