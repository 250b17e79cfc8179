// A station's state from words and as words, for the command line, workspaces and questions of the window.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

/// Carries out "KEY=VALUE": a word of a choice, on or off, a number in its range, a text, or numbers with
/// commas between them. An error names the key and what it may be.
Status set_control(const Station& station, std::any& state, const std::string& assignment);

/// A number as words hold it: read again it is the same float. Whole ones without an exponent, which controls
/// of whole numbers do not read.
std::string spelled(double value);

/// The state that such words make of the first one. Words that the station does not take are passed over:
/// another version may have written them.
std::any state_of(const Station& station, const std::vector<std::string>& words);

/// What a state has that the first one has not, as set_control() takes it: equal states have equal words.
std::vector<std::string> control_words(const Station& station, const std::any& state);

}  // namespace headlight::learn
