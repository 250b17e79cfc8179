// Explains a command line that cannot be parsed.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace headlight {

/// Returns the nearest of some words to a misspelled one; "" if none is near.
std::string nearest_word(const std::string& word, const std::vector<std::string>& among);

/// Returns the names of given options, "text" for --text.
std::set<std::string> given_options(const CLI::App& app);

/// Fails if one of these options was given: "--steps goes with --method integrated-gradients; leave it out."
Status refuse_given(const std::set<std::string>& given, const std::vector<std::string>& options,
                    const std::string& goes_with);

/// Writes "There is no option --josn; did you mean --json? (see `headlight heads --help`)".
std::string usage_sentence(const CLI::App& app, const CLI::ParseError& error);

}  // namespace headlight
