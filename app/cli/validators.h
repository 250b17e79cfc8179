// Checks values of options; refuses them in a sentence.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "base/quoted.h"

namespace headlight {

inline CLI::Validator one_of(const std::vector<std::string>& names) {
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    const auto refusal = [names, all](const std::string& text) {
        const bool known = std::find(names.begin(), names.end(), text) != names.end();
        return known ? "" : in_quotes(text) + " is not one of " + all;
    };
    return {refusal, CLI::IsMember(names).get_description()};
}

inline CLI::Validator a_metric() {
    const auto refusal = [](const std::string& text) {
        const bool blank = text.find_first_not_of(' ') == std::string::npos;
        return std::string(blank ? "it names nothing to explain; give 'log p ball' for example" : "");
    };
    return {refusal, ""};
}

/// Accepts a number within [low, high].
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

/// Accepts a whole number within [low, high].
inline CLI::Validator whole_number(int low, int high) {
    const std::string range = std::to_string(low) + " to " + std::to_string(high);
    const auto refusal = [low, high, range](const std::string& text) {
        int value = 0;
        const bool fits = CLI::detail::lexical_cast(text, value) && value >= low && value <= high;
        return fits ? "" : in_quotes(text) + " is not a whole number from " + range;
    };
    return {refusal, range};
}

}  // namespace headlight
