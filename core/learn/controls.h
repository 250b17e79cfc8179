// Converts a station's state from and to text, for the command line, workspaces and questions of the window.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

/// Applies "KEY=VALUE": an option's name, on or off, a number in its range, a text, or comma-separated
/// numbers. An error names the key and its valid values.
Status set_control(const Station& station, std::any& state, const std::string& assignment);

/// Spells a number that reads back as the same float; integers without an exponent, for integer controls.
std::string spelled(double value);

/// Applies such settings to the first state. Ignores unknown ones, which other versions may write.
std::any state_of(const Station& station, const std::vector<std::string>& words);

/// Lists what a state changes of the first one, as set_control() reads it: equal states have equal lists.
std::vector<std::string> control_words(const Station& station, const std::any& state);

}  // namespace headlight::learn
