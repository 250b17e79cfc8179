// Converts numbers without silent loss: counts are int, also as an index into a std::vector; sizes of files
// and allocations have 64 bits.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace headlight {

/// Converts to a narrower integer type, which must be able to hold the value.
template <class To, class From>
constexpr To narrow(From value) {
    HEADLIGHT_DCHECK(std::in_range<To>(value));
    return static_cast<To>(value);
}

/// Returns std::ssize as an int.
template <class Container>
constexpr int isize(const Container& container) {
    return narrow<int>(std::size(container));
}

/// Returns the row of an enumerator in a table that has one for each, in order.
template <class Table, class Enumerator>
constexpr const auto& row_of(const Table& table, Enumerator enumerator) {
    const auto row = static_cast<std::size_t>(enumerator);
    HEADLIGHT_DCHECK(row < std::size(table));
    return table[row];
}

/// Returns whether a value is in a container.
template <class Container, class Value>
constexpr bool contains(const Container& container, const Value& value) {
    return std::find(std::begin(container), std::end(container), value) != std::end(container);
}

/// Rounds to the nearest integer; for values up to the size of an image.
inline int round_int(double value) { return static_cast<int>(std::lround(value)); }

/// Reads a text that is one number and nothing else.
template <class Number>
bool read_number(std::string_view text, Number& value) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

/// Returns a character as a byte, 0 to 255.
constexpr unsigned char as_byte(char c) { return static_cast<unsigned char>(c); }

}  // namespace headlight
