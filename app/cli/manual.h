// The declared options as lists, for the manual page, completions and documents.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headlight {

/// Those that help shows.
std::vector<const CLI::Option*> options_of(const CLI::App& app);
std::vector<const CLI::App*> verbs_of(const CLI::App& root);
/// "--name", "-o": what a user types.
std::vector<std::string> spellings(const CLI::Option& option);

/// What an option chooses from, where that is some words.
std::vector<std::string> words_of(const CLI::Option& option);

/// All options and formats as JSON.
std::string option_list(const CLI::App& root);

/// Writes the generated pages of docs/, and the generated parts of README.md and of other pages of docs/,
/// below a folder that has them.
Status write_markdown(const CLI::App& root, const std::filesystem::path& folder);

}  // namespace headlight
