// What an option may be, refused in a sentence.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "base/quoted.h"

namespace headlight {

/// One of some names.
inline CLI::Validator one_of(const std::vector<std::string>& names) {
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    const auto refusal = [names, all](const std::string& text) {
        const bool known = std::find(names.begin(), names.end(), text) != names.end();
        return known ? "" : in_quotes(text) + " is not one of " + all;
    };
    return {refusal, CLI::IsMember(names).get_description()};
}

/// A number within [low, high].
inline CLI::Validator within(double low, double high) {
    std::ostringstream range;
    range.precision(10);
    range << low << " to " << high;
    const auto refusal = [low, high, range = range.str()](const std::string& text) {
        double value = 0;
        const bool fits = CLI::detail::lexical_cast(text, value) && value >= low && value <= high;
        return fits ? "" : in_quotes(text) + " is not a number from " + range;
    };
    return {refusal, range.str()};
}

}  // namespace headlight
