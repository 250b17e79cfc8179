// A station's state from words, as the command line has them.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

/// Carries out "KEY=VALUE": a word of a choice, on or off, a number in its range, a text, or numbers with
/// commas between them. An error names the key and what it may be.
Status set_control(const Station& station, std::any& state, const std::string& assignment);

}  // namespace headlight::learn
