// Adds what the standard library of Debian 12's emscripten lacks of C++20. Included before the files that
// need it.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <string>

namespace std {

template <class Array>
unique_ptr<Array> make_unique_for_overwrite(size_t count) {
    return unique_ptr<Array>(new remove_extent_t<Array>[count]);
}

inline from_chars_result from_chars(const char* begin, const char* end, float& value) {
    const string text(begin, end);
    char* rest = nullptr;
    const float read = strtof(text.c_str(), &rest);
    const auto used = rest - text.c_str();
    if (used == 0) return {begin, errc::invalid_argument};
    value = read;
    return {begin + used, errc()};
}

namespace ranges {
template <class Range, class Test>
bool all_of(const Range& range, Test test) {
    return std::all_of(range.begin(), range.end(), test);
}
}  // namespace ranges

}  // namespace std
