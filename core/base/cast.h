// Numbers of the program: what is counted is an int, also as an index into a std::vector; what a file or an
// allocation measures is 64 bits. These are the ways between them that lose nothing unseen.
#pragma once

#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace headlight {

/// The same number as a narrower integer, which can hold it.
template <class To, class From>
constexpr To narrow(From value) {
    HEADLIGHT_DCHECK(std::in_range<To>(value));
    return static_cast<To>(value);
}

/// std::ssize as an int: how many a container holds.
template <class Container>
constexpr int isize(const Container& container) {
    return narrow<int>(std::size(container));
}

/// The row of a table that has one for each enumerator, in their order.
template <class Table, class Enumerator>
constexpr const auto& row_of(const Table& table, Enumerator enumerator) {
    const auto row = static_cast<std::size_t>(enumerator);
    HEADLIGHT_DCHECK(row < std::size(table));
    return table[row];
}

/// The nearest integer, for what is at most as large as a picture.
inline int round_int(double value) { return static_cast<int>(std::lround(value)); }

/// A character of a text as the byte that it is, 0 to 255.
constexpr unsigned char as_byte(char c) { return static_cast<unsigned char>(c); }

}  // namespace headlight
